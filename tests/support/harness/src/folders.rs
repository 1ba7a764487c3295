//! Where the repository lies, and where tests write what is worth looking at afterwards.

use std::path::{Path, PathBuf};

/// The root of the repository, absolute.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("this crate lies in tests/support")
}

/// Where cargo writes.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

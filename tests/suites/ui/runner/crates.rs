//! The crate `ptx` that the cases use, and the folders of this machine that messages must not name.

use std::path::PathBuf;

use ptx_codegen::options::TARGET;
use ptx_tests::folders::{root, target_dir};
use ptx_tests::library::{self, Library};
use ui_test::color_eyre::eyre::{Result, eyre};

/// The variable that names another folder of cases.
pub const CASES: &str = "UI_TESTS_CASES";

/// A compiled `ptx`.
pub struct Built {
    /// The target, if it is not the host.
    pub target: Option<&'static str>,
    /// What rustc needs to use it.
    pub args: Vec<String>,
    /// Folders of this machine, and what stands for them in messages.
    pub paths: Vec<(PathBuf, &'static str)>,
}

/// Where cases are compiled to.
pub fn out_dir() -> PathBuf {
    let folder = target_dir().join("ui");
    if std::env::var_os(CASES).is_some() { folder.join("self-test") } else { folder }
}

/// For the device.
pub fn device() -> Result<Built> {
    Ok(built(Some(TARGET), library::device().map_err(|what| eyre!("{what}"))?))
}

/// For the host.
pub fn host() -> Result<Built> {
    Ok(built(None, &library::host().map_err(|what| eyre!("{what}"))?))
}

fn built(target: Option<&'static str>, library: &Library) -> Built {
    let sysroot = library.sysroot.iter().map(|sysroot| (sysroot.clone(), "$SYSROOT"));
    let paths = [(out_dir(), "$OUT"), (root().into(), "$ROOT")].into_iter().chain(sysroot).collect();
    Built { target, args: library.args.clone(), paths }
}

//! What cargo and the shell say: which cargo, which rustc, which folder.

use std::path::PathBuf;

/// The cargo that called us, else the one in `PATH`.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// The rustc that cargo names, else the one in `PATH`.
pub fn rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from)
}

/// Where the program was started.
pub fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

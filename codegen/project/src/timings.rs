//! How long a device build takes: cargo's part by this process's clock, the linker's by its own.
//!
//! The linker is told by an environment variable where its measurements go, not by an argument: cargo builds nothing again
//! because somebody wants to know how long it takes.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use ptx_codegen::timings;

/// The environment variable that names the file for the linker's measurements.
pub const VARIABLE: &str = "RUST_PTX_TIMINGS";

/// Whether the linker's measurements are wanted.
pub fn are_wanted() -> bool {
    file().is_some()
}

fn file() -> Option<OsString> {
    std::env::var_os(VARIABLE).filter(|path| !path.is_empty())
}

/// The linker's beginning.
pub fn begin() {
    timings::take();
}

/// Writes what this process measured as the linker, if it is wanted.
pub fn hand_over() {
    if let Some(path) = file() {
        // Whoever wants it finds nothing then, and says so.
        let _ = std::fs::write(path, serde_json::to_vec(&timings::take()).unwrap_or_default());
    }
}

/// Notes, as parts of the span of cargo that is open, what cargo did before the linker ran, and what the linker measured.
pub fn of_cargo(begun: Instant, dependencies: Option<Instant>, file: &Path) {
    let measured = std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let _ = std::fs::remove_file(file);
    let Some(measured) = measured else { return };
    let rustc = dependencies.unwrap_or(begun);
    timings::part("dependencies", begun, rustc);
    let linker = timings::adopt("linker", measured);
    timings::part("rustc", rustc, linker.max(rustc));
}

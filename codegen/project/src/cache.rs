//! The user's cache folder, which is `ptx-setup`'s, with failures that have codes.

use std::fs;
use std::path::{Path, PathBuf};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files;
use ptx_setup::Failure;

pub use ptx_setup::cache::VARIABLE as CACHE_VARIABLE;

/// The folder below [`root`] with what ptxas made; it may be removed at any time.
pub const PTXAS: &str = "ptxas";

/// The folder below [`root`] with optimised groups of kernels; it may be removed at any time.
pub const GROUPS: &str = "groups";

/// The folder below [`root`] with crates that device builds compiled; it may be removed at any time.
pub const CRATES: &str = "crates";

/// Where sysroots and downloaded tools are kept: `RUST_PTX_CACHE`, else `rust-ptx` in the user's cache folder.
pub fn root() -> Result<PathBuf> {
    Ok(ptx_setup::cache::root().map_err(diagnostic)?)
}

/// Bytes that the files below a folder take.
pub fn size(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

/// The failure with a code.
pub(crate) fn diagnostic(failed: Failure) -> Diagnostic {
    let (code, text) = match failed {
        Failure::Cache { verb, path, error } => {
            return files::failed(
                verb,
                &path,
                &error,
                &format!("set {CACHE_VARIABLE} to a folder that may be written"),
            );
        }
        Failure::NoHome => {
            return Diagnostic::error(Code::OutputFailed, "the user has no home folder, so there is no cache folder")
                .help(format!("set {CACHE_VARIABLE} to a folder that may be written"));
        }
        Failure::Rustc(text) => (Code::CargoFailed, text),
        Failure::Library(text) => (Code::NoSysroot, text),
        Failure::Tools(text) => (Code::PtxasMissing, text),
        Failure::Full(mut text) => {
            text.help
                .push(format!("free about 500 MB of disk space, or set {CACHE_VARIABLE} to a folder on another disk"));
            (Code::OutputFailed, text)
        }
        other => return Diagnostic::error(Code::OutputFailed, other.to_string()),
    };
    let diagnostic = text.notes.into_iter().fold(Diagnostic::error(code, text.message), Diagnostic::note);
    text.help.into_iter().fold(diagnostic, Diagnostic::help)
}

#[cfg(test)]
mod tests {
    use ptx_setup::cache::Partial;

    use super::*;

    #[test]
    fn a_file_in_the_way_is_named() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let failure = Partial::begin(&temp.path().join("file/dir"), || {}).unwrap_err();
        let error = diagnostic(failure).to_string();
        assert!(error.contains("PTX0015") && error.contains("/file`") && error.contains(CACHE_VARIABLE), "{error}");
    }
}

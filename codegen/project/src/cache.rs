//! The user's cache folder, which is `ptx-setup`'s, with failures that have codes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files;
use ptx_setup::Failure;
use ptx_setup::cache::Partial;

pub use ptx_setup::cache::VARIABLE as CACHE_VARIABLE;

/// The folder below [`root`] with what ptxas made; it may be removed at any time.
pub const PTXAS: &str = "ptxas";

/// Where sysroots and downloaded tools are kept: `RUST_PTX_CACHE`, else `rust-ptx` in the user's cache folder.
pub fn root() -> Result<PathBuf> {
    Ok(ptx_setup::cache::root().map_err(diagnostic)?)
}

/// Makes the folder `dir` by `make`, unless it is there already.
///
/// `make` fills a new folder beside it, which then takes its name: whoever sees `dir` sees it whole, also after a
/// crash. Of several processes or threads one makes it, while the others call `waiting` and wait.
/// Returns whether `make` ran.
pub fn make_once(dir: &Path, waiting: impl FnOnce(), make: impl FnOnce(&Path) -> Result<()>) -> Result<bool> {
    let Some(partial) = Partial::begin(dir, waiting).map_err(diagnostic)? else { return Ok(false) };
    make(partial.path())?;
    partial.publish().map_err(diagnostic)?;
    Ok(true)
}

/// Removes a folder if it is there.
pub fn remove(dir: &Path) -> Result<()> {
    Ok(ptx_setup::cache::remove(dir).map_err(diagnostic)?)
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

/// The same with a code.
pub(crate) fn diagnostic(failed: Failure) -> Diagnostic {
    let (code, text) = match failed {
        Failure::Cache { verb, path, error } => return failure(&path, verb, &error),
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

/// What to say where a file or folder of the cache cannot be used; `verb` as in "cannot `create`".
pub(crate) fn failure(path: &Path, verb: &str, error: &io::Error) -> Diagnostic {
    files::failed(verb, path, error, &format!("set {CACHE_VARIABLE} to a folder that may be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a");
        let refuse = |partial: &Path| {
            fs::write(partial.join("half"), "").unwrap();
            Err(Diagnostic::error(Code::OutputFailed, "refused").into())
        };
        let result = make_once(&dir, || {}, refuse);
        assert!(result.unwrap_err().to_string().contains("refused"));
        assert!(!dir.exists());
        let make = |partial: &Path| {
            fs::write(partial.join("new"), "").unwrap();
            Ok(())
        };
        assert!(make_once(&dir, || {}, make).unwrap());
        assert!(dir.join("new").exists() && !dir.join("half").exists());
        assert!(!make_once(&dir, || {}, |_| panic!("made twice")).unwrap());
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let error = make_once(&temp.path().join("file/dir"), || {}, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("PTX0015") && error.contains("/file`") && error.contains(CACHE_VARIABLE), "{error}");
    }
}

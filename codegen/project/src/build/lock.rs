//! Keeps two device builds from writing the same folder at once.

use std::io;
use std::path::Path;

use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{self, Lock};

use crate::progress::Progress;

/// Makes the folder if needed and waits until no other build uses it.
pub fn lock(dir: &Path, progress: &Progress) -> Result<Lock> {
    std::fs::create_dir_all(dir).map_err(|e| failure(dir, "create the folder", &e))?;
    let path = dir.join(".ptx-lock");
    let waiting = || progress.step(format!("Waiting for another build in {}", dir.display()));
    Ok(Lock::take(&path, waiting).map_err(|e| failure(&path, "lock", &e))?)
}

/// What to say where a folder of the build cannot be used.
pub fn failure(path: &Path, verb: &str, error: &io::Error) -> Diagnostic {
    files::failed(verb, path, error, "name a folder that can be written by `--out` or cargo's `--target-dir`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = lock(&file.path().join("out"), &Progress::quiet()).unwrap_err().to_string();
        assert!(error.contains("cannot create the folder") && error.contains("--out"), "{error}");
    }
}

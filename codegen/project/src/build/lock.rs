//! Keeps two device builds from writing the same folder at once.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::progress::Progress;

/// Holds a folder until it is dropped.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, not read")] File);

/// Makes the folder if needed and waits until no other build uses it.
pub fn lock(dir: &Path, progress: &Progress) -> Result<Lock> {
    fs::create_dir_all(dir).map_err(|e| failure(dir, "create the folder", &e))?;
    let path = dir.join(".ptx-lock");
    let open = || File::options().create(true).truncate(false).write(true).open(&path);
    let file = open().map_err(|e| failure(&path, "write", &e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            let step = progress.step(format!("Waiting for another build in {}", dir.display()));
            file.lock().map_err(|e| failure(&path, "lock", &e))?;
            drop(step);
        }
        Err(fs::TryLockError::Error(e)) => return Err(failure(&path, "lock", &e).into()),
    }
    Ok(Lock(file))
}

/// Writes a file unless it has that content already: cargo looks at times.
pub fn write_if_changed(path: &Path, content: &str) -> Result<bool> {
    if fs::read_to_string(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    fs::write(path, content).map_err(|e| failure(path, "write", &e))?;
    Ok(true)
}

pub(super) fn failure(path: &Path, verb: &str, error: &io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(Code::OutputFailed, format!("cannot {verb} `{}`: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => diagnostic.help("free some disk space"),
        _ => diagnostic.help("name a folder that can be written by `--out` or cargo's `--target-dir`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn the_second_waits_for_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let released = AtomicBool::new(false);
        let first = lock(dir.path(), &Progress::quiet()).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let _second = lock(dir.path(), &Progress::quiet()).unwrap();
                assert!(released.load(Ordering::SeqCst));
            });
            std::thread::sleep(Duration::from_millis(50));
            released.store(true, Ordering::SeqCst);
            drop(first);
            second.join().unwrap();
        });
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = lock(&file.path().join("out"), &Progress::quiet()).unwrap_err().to_string();
        assert!(error.contains("cannot create the folder") && error.contains("--out"), "{error}");
    }

    #[test]
    fn unchanged_files_keep_their_time() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        assert!(write_if_changed(&file, "a").unwrap());
        assert!(!write_if_changed(&file, "a").unwrap());
        assert!(write_if_changed(&file, "b").unwrap());
    }
}

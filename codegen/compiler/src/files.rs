//! Files and paths: whole files or none, locks between processes, one message for what cannot be written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::scratch;

/// What to say where a file or folder cannot be used: `verb` as in "cannot `write`", `elsewhere` as in "name another folder".
pub fn failed(verb: &str, path: &Path, error: &io::Error, elsewhere: &str) -> Diagnostic {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full: free some space, or ",
        io::ErrorKind::NotFound => "create the folder first, or ",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "make it writable, or ",
        _ => "",
    };
    Diagnostic::error(Code::OutputFailed, format!("cannot {verb} `{}`: {error}", path.display()))
        .help(format!("{advice}{elsewhere}"))
}

/// What to say where an output cannot be written.
pub fn not_written(path: &Path, error: &io::Error) -> Diagnostic {
    failed("write", path, error, "name another folder")
}

/// What to say where a temporary file cannot be written.
pub fn no_scratch(path: &Path, error: &io::Error) -> Diagnostic {
    failed("write", path, error, "name another folder with TMPDIR")
}

/// Writes one file, whole.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    Pending::write(path, bytes)?.publish()
}

/// Writes a file unless it has that content already, as cargo looks at times. Returns whether it did.
pub fn write_if_changed(path: &Path, content: &str) -> Result<bool> {
    if fs::read_to_string(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    publish(path, content.as_bytes())?;
    Ok(true)
}

/// A whole file under a temporary name beside its own.
pub struct Pending {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Writes the temporary file.
    pub fn write(path: &Path, bytes: &[u8]) -> Result<Self> {
        let dir = match path.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
        let write = || {
            let mut temporary = scratch::file(dir, readable())?;
            temporary.write_all(bytes)?;
            temporary.flush()?;
            Ok(temporary)
        };
        let temporary = write().map_err(|e: io::Error| not_written(path, &e))?;
        Ok(Self { temporary, path: path.to_path_buf() })
    }

    /// Gives it its name, in place of what had it.
    pub fn publish(self) -> Result<()> {
        // A device such as /dev/full is written to, not replaced.
        let special = fs::metadata(&self.path).is_ok_and(|meta| !meta.is_file());
        if special {
            let copy = || {
                let bytes = fs::read(self.temporary.path())?;
                File::options().write(true).open(&self.path)?.write_all(&bytes)
            };
            return copy().map_err(|e| not_written(&self.path, &e).into());
        }
        self.temporary.persist(&self.path).map_err(|e| not_written(&self.path, &e.error))?;
        Ok(())
    }
}

/// Temporary files are private by default; outputs are not.
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o644)
}

/// A file that one process at a time holds, until this is dropped. The file stays: removing it would let a second process
/// lock a new one while a third still waits for the old.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, not read")] File);

impl Lock {
    /// Waits until nobody else holds it; what `waiting` returns is dropped when the wait ends.
    pub fn take<T>(path: &Path, waiting: impl FnOnce() -> T) -> io::Result<Self> {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let _shown = waiting();
                file.lock()?;
            }
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
        Ok(Self(file))
    }
}

/// The path from the file system's root.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(path)
        .map_err(|e| Diagnostic::error(Code::Usage, format!("cannot use the path `{}`: {e}", path.display())))?)
}

/// Without `.` and `..`, as cargo spells paths; symbolic links stay.
pub fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn dots_leave_paths() {
        for (path, expected) in [("/a/./b/../c", "/a/c"), ("/a/b/../../c", "/c"), ("../a", "../a"), ("/a/b", "/a/b")] {
            assert_eq!(normalized(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn the_second_waits_for_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let (asked, released) = (AtomicBool::new(false), AtomicBool::new(false));
        let first = Lock::take(&path, || panic!("nobody holds it")).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let _second = Lock::take(&path, || asked.store(true, Ordering::SeqCst)).unwrap();
                assert!(released.load(Ordering::SeqCst));
            });
            while !asked.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            released.store(true, Ordering::SeqCst);
            drop(first);
            second.join().unwrap();
        });
    }

    #[test]
    fn unchanged_files_keep_their_time() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        assert!(write_if_changed(&file, "a").unwrap());
        assert!(!write_if_changed(&file, "a").unwrap());
        assert!(write_if_changed(&file, "b").unwrap());
    }

    #[test]
    fn what_cannot_be_written_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let error = publish(&dir.path().join("none/f"), b"").unwrap_err().to_string();
        assert!(error.contains("PTX0015") && error.contains("create the folder first, or name another"), "{error}");
    }
}

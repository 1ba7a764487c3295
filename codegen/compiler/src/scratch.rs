//! Temporary files and folders that do not outlive the process: not an error, a signal, a crash, and a kill only until the
//! next link.
//!
//! All of them are in one list, and are made with the list locked. [`clean`] removes them and keeps the lock, so that
//! nothing new is made before the process ends. Each holds a lock of the file system too, which nobody but a living
//! process has: what has none was left by a process that was killed, and [`sweep`] removes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tempfile::{NamedTempFile, TempDir};

/// How the names of folders begin.
const FOLDER: &str = "rust-ptx-";

/// How the names of files begin that become outputs.
const FILE: &str = ".ptx-new-";

/// What is younger may be between being made and being locked.
const YOUNG: Duration = Duration::from_secs(60);

static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a thread waits for signals, to call [`clean`].
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether [`crashed`] was called.
static CRASHED: AtomicBool = AtomicBool::new(false);

/// Whether [`clean`] is through.
static CLEANED: AtomicBool = AtomicBool::new(false);

/// A folder in the folder for temporary files, which is removed with `self`.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// Makes one.
    pub fn new() -> io::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    fn within(parent: &Path) -> io::Result<Self> {
        let mut made = uninterrupted();
        let folder = tempfile::Builder::new().prefix(FOLDER).tempdir_in(parent)?;
        made.push(folder.path().to_path_buf());
        let lock = File::open(folder.path())?;
        hold(&lock);
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a command keep its own temporary files here, and end when this process does.
    pub fn confine(&self, command: &mut Command) {
        command.env("TMPDIR", self.path());
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::process::CommandExt;
            let us = std::process::id();
            // SAFETY: between fork and exec only these system calls run, which touch no memory.
            unsafe {
                command.pre_exec(move || {
                    let asked = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0;
                    // We may have ended before.
                    let lives = libc::getppid().cast_unsigned() == us;
                    if asked && lives { Ok(()) } else { Err(io::Error::last_os_error()) }
                });
            }
        }
    }
}

/// A file in `dir` that is to become an output.
pub fn file(dir: &Path, permissions: fs::Permissions) -> io::Result<NamedTempFile> {
    let mut made = uninterrupted();
    let file = tempfile::Builder::new().prefix(FILE).permissions(permissions).tempfile_in(dir)?;
    made.push(file.path().to_path_buf());
    hold(file.as_file());
    Ok(file)
}

/// Without a lock, on file systems that have none, nothing is ever taken for abandoned.
fn hold(file: &File) {
    let _ = file.try_lock();
}

/// While this is held, a signal ends the process only afterwards.
pub fn uninterrupted() -> MutexGuard<'static, Vec<PathBuf>> {
    MADE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Removes what this process has made, and lets it make nothing more: it is about to end.
pub fn clean() {
    let made = uninterrupted();
    for path in made.iter() {
        // A program that still writes to a folder can keep it from being removed.
        for _ in 0..20 {
            let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            if removed.is_ok() || !path.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    CLEANED.store(true, Ordering::Release);
    std::mem::forget(made);
}

/// Says that a thread calls [`clean`] when the process gets one of the signals that [`crashed`] may send.
pub fn watched() {
    WATCHED.store(true, Ordering::Release);
}

/// Has that thread clean up, if there is one, and waits for it. It allocates nothing and takes no lock, so that the handler
/// of a crash may call it.
#[cfg(unix)]
pub fn crashed() {
    if !WATCHED.load(Ordering::Acquire) {
        return;
    }
    CRASHED.store(true, Ordering::Release);
    // SAFETY: both functions may be called in a handler, and are given plain numbers and a whole structure.
    unsafe {
        libc::kill(libc::getpid(), libc::SIGUSR1);
        let moment = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        for _ in 0..300 {
            if CLEANED.load(Ordering::Acquire) {
                return;
            }
            libc::nanosleep(&moment, std::ptr::null_mut());
        }
    }
}

/// Whether [`crashed`] was called; the thread then need not end the process.
pub fn has_crashed() -> bool {
    CRASHED.load(Ordering::Acquire)
}

/// Removes from `dir` what processes have left that were killed.
pub fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let Ok(kind) = entry.file_type() else { continue };
        // Whether it can be removed shows whose it is: nobody may be hindered by another user's.
        let _ = match name.as_encoded_bytes() {
            name if kind.is_dir() && name.starts_with(FOLDER.as_bytes()) && is_abandoned(&path) => {
                fs::remove_dir_all(&path)
            }
            name if kind.is_file() && name.starts_with(FILE.as_bytes()) && is_abandoned(&path) => {
                fs::remove_file(&path)
            }
            _ => Ok(()),
        };
    }
}

/// Whether nobody holds it who would have had the time to.
fn is_abandoned(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let modified = file.metadata().and_then(|data| data.modified()).ok();
    let old = modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > YOUNG);
    old && !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    use super::*;

    /// Sets its time as if it had been made long ago.
    fn age(path: &Path) {
        File::open(path).unwrap().set_modified(SystemTime::now() - 2 * YOUNG).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name);
        let (folder, file) = (path("rust-ptx-left"), path(".ptx-new-left"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("kernels.ptx"), "half").unwrap();
        fs::write(&file, "half").unwrap();
        for other in ["rust-ptx-file", ".ptx-lock", "ptx-new-mine"] {
            fs::write(path(other), "").unwrap();
            age(&path(other));
        }
        sweep(temp.path());
        assert!(folder.exists() && file.exists(), "they may be in the making");
        age(&folder);
        age(&file);
        sweep(temp.path());
        assert!(!folder.exists() && !file.exists(), "used to stay for ever");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 3, "what is not ours stays");
    }

    #[test]
    fn what_is_in_use_stays() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::within(temp.path()).unwrap();
        let file = file(temp.path(), fs::Permissions::from_mode(0o644)).unwrap();
        age(folder.path());
        age(file.path());
        sweep(temp.path());
        assert!(folder.path().is_dir() && file.path().is_file());
        let path = folder.path().to_path_buf();
        drop(folder);
        assert!(!path.exists());
    }
}

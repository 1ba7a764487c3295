//! The user's cache folder, and folders in it that are made once, whole, by one process at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::Failure;

pub use crate::failure::CACHE_VARIABLE as VARIABLE;

/// Extension of folders that are being filled, before the process's number.
const PARTIAL: &str = "partial-";

/// `RUST_PTX_CACHE`, else `rust-ptx` in the user's cache folder.
pub fn root() -> Result<PathBuf, Failure> {
    if let Some(dir) = std::env::var_os(VARIABLE).filter(|dir| !dir.is_empty()) {
        return std::path::absolute(&dir).map_err(Failure::cache("use", Path::new(&dir)));
    }
    let strategy = etcetera::choose_base_strategy().map_err(|_| Failure::NoHome)?;
    Ok(strategy.cache_dir().join("rust-ptx"))
}

/// A folder that this process fills under another name, while others wait: whoever sees the folder sees it whole, also after
/// a crash. Dropped before [`Self::publish`], it leaves nothing.
#[derive(Debug)]
pub struct Partial {
    dir: PathBuf,
    temporary: PathBuf,
    _lock: File,
}

impl Partial {
    /// Begins with an empty folder; `None` where `dir` is there already. Where another process or thread is at work on it,
    /// calls `waiting` and waits.
    pub fn begin(dir: &Path, waiting: impl FnOnce()) -> Result<Option<Self>, Failure> {
        if dir.is_dir() {
            return Ok(None);
        }
        let parent = dir.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(Failure::cache("create", parent))?;
        let path = beside(dir, "lock");
        let lock = lock(&path, waiting).map_err(Failure::cache("lock", &path))?;
        if dir.is_dir() {
            return Ok(None);
        }
        remove_partial(dir)?;
        let temporary = beside(dir, &format!("{PARTIAL}{}", std::process::id()));
        fs::create_dir(&temporary).map_err(Failure::cache("create", &temporary))?;
        Ok(Some(Self { dir: dir.into(), temporary, _lock: lock }))
    }

    /// The folder to fill.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives it its name.
    pub fn publish(self) -> Result<(), Failure> {
        fs::rename(&self.temporary, &self.dir).map_err(Failure::cache("create", &self.dir))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Published, it is not there; and the failure that comes before this is the one to tell.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// Removes a folder if it is there.
pub fn remove(dir: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Failure::cache("remove", dir)(e)),
        _ => Ok(()),
    }
}

/// `dir` with an extension more.
pub fn beside(dir: &Path, extension: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(extension);
    dir.with_file_name(name)
}

/// Removes what a process left that was killed half-way; the lock says that nobody is at work on it. The name has the
/// process's number, so that a compiler that outlived it cannot write into ours.
fn remove_partial(dir: &Path) -> Result<(), Failure> {
    let prefix = beside(dir, PARTIAL);
    let Some((parent, prefix)) = prefix.parent().zip(prefix.file_name()) else { return Ok(()) };
    for entry in fs::read_dir(parent).map_err(Failure::cache("read", parent))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Locks a file, until what it returns is dropped. The file stays: removing it would let two processes lock two files of that
/// name.
fn lock(path: &Path, waiting: impl FnOnce()) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            waiting();
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn two_at_once_make_it_once() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a/b");
        let (made, waited, start) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(2));
        let run = || {
            start.wait();
            let waiting = || {
                waited.fetch_add(1, Ordering::SeqCst);
            };
            let Some(partial) = Partial::begin(&dir, waiting).unwrap() else { return };
            assert!(!dir.exists(), "seen before it was whole");
            made.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(200));
            fs::write(partial.path().join("file"), "whole").unwrap();
            partial.publish().unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(run);
            run();
        });
        assert_eq!((made.into_inner(), waited.into_inner()), (1, 1));
        assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "whole");
        assert_eq!(names(dir.parent().unwrap()), ["b", "b.lock"]);
    }

    #[test]
    fn a_failure_leaves_nothing_and_the_next_try_starts_clean() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a");
        let begin = || Partial::begin(&dir, || {}).unwrap();
        let partial = begin().unwrap();
        fs::write(partial.path().join("half"), "").unwrap();
        drop(partial);
        assert_eq!(names(temp.path()), ["a.lock"]);

        // As a killed process leaves it.
        fs::create_dir(beside(&dir, "partial-1")).unwrap();
        fs::write(beside(&dir, "partial-1").join("half"), "").unwrap();
        let partial = begin().unwrap();
        fs::write(partial.path().join("new"), "").unwrap();
        partial.publish().unwrap();
        assert_eq!((names(temp.path()), names(&dir)), (vec!["a".into(), "a.lock".into()], vec!["new".into()]));
        assert!(begin().is_none(), "made twice");
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let error = Partial::begin(&temp.path().join("file/dir"), || {}).unwrap_err().to_string();
        assert!(error.contains("/file`") && error.contains(VARIABLE), "{error}");
    }
}

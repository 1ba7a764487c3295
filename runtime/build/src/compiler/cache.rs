//! The user's cache folder, and folders in it that are made once, whole, by one process at a time: as `cargo ptx` keeps it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;

/// The environment variable that puts the cache elsewhere.
pub const VARIABLE: &str = "RUST_PTX_CACHE";

/// How long a compiler of sources that have changed since is kept: another build may be using it.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// `RUST_PTX_CACHE`, else `rust-ptx` in the user's cache folder.
pub fn root() -> Result<PathBuf, String> {
    if let Some(dir) = std::env::var_os(VARIABLE).filter(|dir| !dir.is_empty()) {
        return std::path::absolute(&dir).map_err(|e| format!("cannot use the folder `{}`: {e}", dir.display()));
    }
    let strategy = etcetera::choose_base_strategy()
        .map_err(|_| format!("the user has no home folder, so there is no cache folder: set {VARIABLE} to one"))?;
    Ok(strategy.cache_dir().join("rust-ptx"))
}

/// What to say where a file or folder of the cache cannot be used; `verb` as in "cannot `create`".
pub fn failure(verb: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {verb} `{}`: {error}; set {VARIABLE} to a folder that may be written", path.display())
}

/// Makes the folder `dir` by `make`, unless it is there already.
///
/// `make` fills a new folder beside it, which then takes its name: whoever sees `dir` sees it whole. Of several processes one
/// makes it, while the others call `waiting` and wait.
pub fn make_once(
    dir: &Path,
    waiting: impl FnOnce(),
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = dir.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|e| failure("create", parent, &e))?;
    let path = beside(dir, "lock");
    // Held until this function ends. The file stays: removing it would let two processes lock two files of that name.
    let _lock = lock(&path, waiting).map_err(|e| failure("lock", &path, &e))?;
    if dir.is_dir() {
        return Ok(());
    }
    let partial = beside(dir, "partial");
    // What a process left that was killed half-way.
    remove(&partial)?;
    fs::create_dir(&partial).map_err(|e| failure("create", &partial, &e))?;
    let made = make(&partial).and_then(|()| fs::rename(&partial, dir).map_err(|e| failure("create", dir, &e)));
    if made.is_err() {
        // The first failure is the one to tell.
        let _ = fs::remove_dir_all(&partial);
    }
    made
}

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

fn remove(dir: &Path) -> Result<(), String> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failure("remove", dir, &e)),
        _ => Ok(()),
    }
}

/// Removes folders beside `dir` whose names begin with `prefix`, and that have been there for long.
pub fn remove_old(dir: &Path, prefix: &str) {
    let entries = dir.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let path = entry.path();
        let is_old = || {
            entry
                .metadata()
                .and_then(|data| data.modified())
                .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > KEPT))
        };
        let named = entry.file_name().to_string_lossy().starts_with(prefix);
        if named && path != dir && path.is_dir() && is_old() {
            // One that cannot be removed does no harm.
            let _ = fs::remove_dir_all(&path);
            let _ = fs::remove_file(beside(&path, "lock"));
        }
    }
}

/// `dir` with an extension more.
fn beside(dir: &Path, extension: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(extension);
    dir.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        let count = |counter: &AtomicUsize| {
            counter.fetch_add(1, Ordering::SeqCst);
        };
        let run = || {
            start.wait();
            make_once(
                &dir,
                || count(&waited),
                |partial| {
                    assert!(!dir.exists(), "seen before it was whole");
                    count(&made);
                    std::thread::sleep(Duration::from_millis(200));
                    fs::write(partial.join("file"), "whole").unwrap();
                    Ok(())
                },
            )
            .unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(run);
            run();
        });
        assert_eq!((made.into_inner(), waited.into_inner()), (1, 1));
        assert_eq!(names(dir.parent().unwrap()), ["b", "b.lock"]);
    }

    #[test]
    fn a_failure_leaves_nothing_and_the_next_try_starts_clean() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a");
        let half = |partial: &Path| fs::write(partial.join("half"), "").unwrap();
        let result = make_once(
            &dir,
            || (),
            |partial| {
                half(partial);
                Err("refused".into())
            },
        );
        assert_eq!((result, names(temp.path())), (Err("refused".into()), vec!["a.lock".into()]));
        // As a killed process leaves it.
        fs::create_dir(beside(&dir, "partial")).unwrap();
        half(&beside(&dir, "partial"));
        make_once(
            &dir,
            || (),
            |partial| {
                fs::write(partial.join("new"), "").unwrap();
                Ok(())
            },
        )
        .unwrap();
        assert_eq!((names(temp.path()), names(&dir)), (vec!["a".into(), "a.lock".into()], vec!["new".into()]));
        make_once(&dir, || (), |_| panic!("made twice")).unwrap();
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let error = make_once(&temp.path().join("file/dir"), || (), |_| Ok(())).unwrap_err();
        assert!(error.contains("/file`") && error.contains(VARIABLE), "{error}");
    }

    #[test]
    fn only_old_compilers_of_the_same_sources_go() {
        let temp = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * KEPT;
        for (name, time) in [("x-1", Some(old)), ("x-2", None), ("x-3", Some(old)), ("y-1", Some(old))] {
            let dir = temp.path().join(name);
            fs::create_dir(&dir).unwrap();
            if let Some(time) = time {
                File::open(&dir).unwrap().set_modified(time).unwrap();
            }
        }
        remove_old(&temp.path().join("x-3"), "x-");
        assert_eq!(names(temp.path()), ["x-2", "x-3", "y-1"]);
    }
}

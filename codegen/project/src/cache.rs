//! The user's cache folder, and folders in it that are made once, whole, by one process at a time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::files::{self, Lock};

/// The environment variable that puts the cache elsewhere.
pub const CACHE_VARIABLE: &str = "RUST_PTX_CACHE";

/// The folder below [`root`] with what ptxas made; it may be removed at any time.
pub const PTXAS: &str = "ptxas";

/// Extension of folders that are being filled, before the process's number.
const PARTIAL: &str = "partial-";

/// Where sysroots and downloaded tools are kept: `RUST_PTX_CACHE`, else `rust-ptx` in the user's cache folder.
pub fn root() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os(CACHE_VARIABLE).filter(|dir| !dir.is_empty()) {
        return std::path::absolute(&dir).map_err(|e| failure(Path::new(&dir), "use", &e).into());
    }
    match etcetera::choose_base_strategy() {
        Ok(strategy) => Ok(strategy.cache_dir().join("rust-ptx")),
        Err(_) => {
            Err(Diagnostic::error(Code::OutputFailed, "the user has no home folder, so there is no cache folder")
                .help(format!("set {CACHE_VARIABLE} to a folder that may be written"))
                .into())
        }
    }
}

/// Makes the folder `dir` by `make`, unless it is there already.
///
/// `make` fills a new folder beside it, which then takes its name: whoever sees `dir` sees it whole, also after a
/// crash. Of several processes or threads one makes it, while the others call `waiting` and wait.
/// Returns whether `make` ran.
pub fn make_once(dir: &Path, waiting: impl FnOnce(), make: impl FnOnce(&Path) -> Result<()>) -> Result<bool> {
    if dir.is_dir() {
        return Ok(false);
    }
    let parent = dir.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|e| failure(parent, "create", &e))?;
    let path = beside(dir, "lock");
    let _lock = Lock::take(&path, waiting).map_err(|e| failure(&path, "lock", &e))?;
    if dir.is_dir() {
        return Ok(false);
    }
    remove_partial(dir)?;
    let temporary = beside(dir, &format!("{PARTIAL}{}", std::process::id()));
    fs::create_dir(&temporary).map_err(|e| failure(&temporary, "create", &e))?;
    let made =
        make(&temporary).and_then(|()| fs::rename(&temporary, dir).map_err(|e| failure(dir, "create", &e).into()));
    if made.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    made.map(|()| true)
}

/// Removes a folder if it is there.
pub fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failure(dir, "remove", &e).into()),
        _ => Ok(()),
    }
}

/// Removes what a process left that was killed half-way; the lock says that nobody is at work on it. The name has the
/// process's number, so that a compiler that outlived it cannot write into ours.
fn remove_partial(dir: &Path) -> Result<()> {
    let prefix = beside(dir, PARTIAL);
    let Some((parent, prefix)) = prefix.parent().zip(prefix.file_name()) else { return Ok(()) };
    for entry in fs::read_dir(parent).map_err(|e| failure(parent, "read", &e))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
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

/// What to say where a file or folder of the cache cannot be used; `verb` as in "cannot `create`".
pub(crate) fn failure(path: &Path, verb: &str, error: &io::Error) -> Diagnostic {
    files::failed(verb, path, error, &format!("set {CACHE_VARIABLE} to a folder that may be written"))
}

/// Adds what to do where the disk is full.
pub(crate) fn full(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.help(format!("free about 500 MB of disk space, or set {CACHE_VARIABLE} to a folder on another disk"))
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn two_at_once_make_it_once() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a/b");
        let (made, waited, start) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(2));
        let run = || {
            start.wait();
            make_once(
                &dir,
                || {
                    waited.fetch_add(1, Ordering::SeqCst);
                },
                |partial| {
                    assert!(!dir.exists(), "seen before it was whole");
                    made.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(200));
                    fs::write(partial.join("file"), "whole").unwrap();
                    Ok(())
                },
            )
            .unwrap()
        };
        let ran = std::thread::scope(|scope| {
            let other = scope.spawn(run);
            [run(), other.join().unwrap()]
        });
        assert_eq!(ran.iter().filter(|ran| **ran).count(), 1);
        assert_eq!((made.into_inner(), waited.into_inner()), (1, 1));
        assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "whole");
        assert_eq!(names(dir.parent().unwrap()), ["b", "b.lock"]);
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failure_leaves_nothing_and_the_next_try_starts_clean() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a");
        let refuse = Diagnostic::error(Code::OutputFailed, "refused");
        let result = make_once(
            &dir,
            || {},
            |partial| {
                fs::write(partial.join("half"), "").unwrap();
                Err(refuse.into())
            },
        );
        assert!(result.unwrap_err().to_string().contains("refused"));
        assert_eq!(names(temp.path()), ["a.lock"]);

        // As a killed process leaves it.
        fs::create_dir(beside(&dir, "partial-1")).unwrap();
        fs::write(beside(&dir, "partial-1").join("half"), "").unwrap();
        assert!(
            make_once(
                &dir,
                || {},
                |partial| {
                    fs::write(partial.join("new"), "").unwrap();
                    Ok(())
                }
            )
            .unwrap()
        );
        assert_eq!((names(temp.path()), names(&dir)), (vec!["a".into(), "a.lock".into()], vec!["new".into()]));
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

//! Compilers of sources that a clone no longer has.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ptx_setup::cache::beside;

/// How long a compiler of sources that have changed since is kept: another build may be using it.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes folders beside `dir` whose names begin with `prefix`, and that have been there for long.
pub fn remove(dir: &Path, prefix: &str) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_compilers_of_the_same_sources_go() {
        let temp = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * KEPT;
        for (name, time) in [("x-1", Some(old)), ("x-2", None), ("x-3", Some(old)), ("y-1", Some(old))] {
            let dir = temp.path().join(name);
            fs::create_dir(&dir).unwrap();
            if let Some(time) = time {
                fs::File::open(&dir).unwrap().set_modified(time).unwrap();
            }
        }
        remove(&temp.path().join("x-3"), "x-");
        let is_there = |name: &&str| temp.path().join(name).exists();
        assert_eq!(["x-1", "x-2", "x-3", "y-1"].iter().filter(|name| is_there(name)).count(), 3);
        assert!(!is_there(&"x-1"));
    }
}

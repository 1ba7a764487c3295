//! Paths without the detours that they were written with.

use std::path::{Component, Path, PathBuf};

/// `a/b` for `a/./c/../b`.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

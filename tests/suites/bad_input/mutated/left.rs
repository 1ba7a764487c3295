//! Where a linker works that may leave something, and what it left.

use std::fs;
use std::path::Path;

use ptx_tests::Scratch;

/// A scratch folder with one of its own for temporary files.
pub fn scratch() -> Scratch {
    let scratch = Scratch::default();
    fs::create_dir(scratch.path().join("tmp")).expect("a fresh folder");
    scratch
}

/// The files in a folder and below.
pub fn files_in(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let below = path.is_dir() && !path.is_symlink();
        // A folder that is left counts, but for those for outputs.
        if !below || folder.ends_with("tmp") {
            files.push(path.display().to_string());
        }
        if below {
            files.extend(files_in(&path));
        }
    }
    files
}

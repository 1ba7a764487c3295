//! The user-interface tests that run, compiled for a GPU.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::shell;

/// Compiles `tests/suites/ui/cases/run`, and returns the folder that holds a cubin, PTX and description of each.
pub fn build() -> Result<PathBuf> {
    let folder = shell::target_dir()?.join("ui/run");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    shell::run(shell::cargo().args(["test", "--quiet", "--test", "ui", "--", "cases/run/"]))?;
    ensure!(folder.exists(), "no user-interface test was put aside for a GPU: is there a ptxas?");
    Ok(folder)
}

/// Copies them.
pub fn pack(bundle: &Path) -> Result<()> {
    fs::create_dir_all(bundle)?;
    for entry in fs::read_dir(build()?)? {
        let path = entry?.path();
        fs::copy(&path, bundle.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

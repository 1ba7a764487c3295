//! The cases for cuda-gdb and compute-sanitizer, as a GPU runs them.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::shell;

/// The program that the tools watch.
pub const PROGRAM: &str = "ptx-debugger-tests";

/// Compiles and checks the cases, and copies them into the folder with the program from `built`.
pub fn pack(folder: &Path, built: &Path) -> Result<()> {
    let cases = shell::target_dir()?.join("cuda-gdb");
    if cases.exists() {
        // Of cases that are gone.
        fs::remove_dir_all(&cases)?;
    }
    let mut compile = shell::cargo();
    compile.args(["test", "--test", "debug_info", "--", "case for cuda-gdb"]);
    shell::run(&mut compile)?;
    fs::create_dir_all(folder)?;
    for case in fs::read_dir(&cases)? {
        let case = case?;
        fs::copy(case.path(), folder.join(case.file_name()))?;
    }
    // Not stripped: compute-sanitizer names lines of this program.
    fs::copy(built.join(PROGRAM), folder.join(PROGRAM))?;
    Ok(())
}

//! `cargo xtask setup`: the device sysroot and NVIDIA's tools, each installed once, by `cargo ptx setup`.

use std::process::Command;

use anyhow::Result;

use crate::shell;

/// Installs what is missing. The tools come from PyPI; without network or Python the tests that need them are
/// skipped, which is not a reason to run none.
pub fn run() -> Result<()> {
    sysroot()?;
    if !setup(&[]).status()?.success() {
        eprintln!("NVIDIA's tools could not be installed; tests that need them are skipped.");
    }
    Ok(())
}

/// Builds the device sysroot where there is none.
pub fn sysroot() -> Result<()> {
    shell::run(&mut setup(&["--no-tools"]))
}

/// Builds the program as well, which build scripts then find.
fn setup(args: &[&str]) -> Command {
    let mut command = shell::cargo();
    command.args(["run", "--quiet", "--bin", "cargo-ptx", "--", "ptx", "setup"]).args(args);
    command
}

//! The program that measures with the compiler's own crates.

use std::process::Command;

use crate::shell;

/// `xtask-measure`, built first.
pub fn program() -> Command {
    let mut command = shell::cargo();
    command.args(["run", "--quiet", "--bin", "xtask-measure", "--"]);
    command
}

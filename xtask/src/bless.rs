//! `cargo xtask bless [FILTER]`: writes the `.stderr` files of the user-interface tests.

use std::process::ExitCode;

use anyhow::Result;

use crate::{setup, shell};

/// Runs the cases and takes what the compiler says now for right.
pub fn run(filter: Option<&str>) -> Result<ExitCode> {
    setup::run()?;
    let mut command = shell::cargo();
    command.args(["test", "--test", "ui", "--", "--bless"]).args(filter);
    let status = command.status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

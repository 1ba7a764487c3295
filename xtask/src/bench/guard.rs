//! `cargo xtask bench guard [--accept [REASON]]`: the kernels' code against the record for every arch, or the record anew.

use std::process::ExitCode;

use anyhow::Result;

use crate::test::{self, Suite};
use crate::{setup, shell};

/// The runner writes the record if this is set, to the reason (`tests/suites/guard/main.rs`).
const ACCEPT: &str = "PTX_GUARD_ACCEPT";

/// Compares, or writes the record.
pub fn run(accept: Option<&str>) -> Result<ExitCode> {
    let Some(reason) = accept else {
        return test::run(&test::Request { suites: vec![Suite::Guard], all: true, ..Default::default() });
    };
    setup::run()?;
    let mut command = shell::cargo();
    let status = command.args(["test", "--test", "guard"]).env(ACCEPT, reason).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

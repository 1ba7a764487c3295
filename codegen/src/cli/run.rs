//! `cargo ptx run`: `cargo run`, whose build script compiles the kernels, with architecture, floating-point modes and panics chosen here.

use std::process::Command;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::float;
use crate::options::parse_archs;
use crate::panics;

use super::arguments::RunArgs;

/// Runs cargo; its exit code is ours.
pub fn run(args: &RunArgs) -> Result<u8> {
    parse_archs(&args.arch)?;
    args.float.modes()?;
    let cargo = super::cargo();
    let mut command = Command::new(&cargo);
    command.arg("run").args(&args.cargo);
    if !args.arch.is_empty() {
        command.env("RUST_PTX_ARCH", args.arch.join(","));
    }
    let modes: Vec<String> = args.float.assignments().collect();
    if !modes.is_empty() {
        command.env(float::VARIABLE, modes.join(","));
    }
    if let Some(strategies) = args.panic.to_variable() {
        command.env(panics::VARIABLE, strategies);
    }
    let status = command
        .status()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", cargo.display())))?;
    // A program ended by a signal has no code.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

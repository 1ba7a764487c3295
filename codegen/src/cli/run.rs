//! `cargo ptx run`: `cargo run`, whose build script compiles the kernels, with architecture and floating-point modes chosen here.

use std::process::{Command, ExitCode};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::float::{self, FloatSettings};
use crate::options::parse_archs;

use super::arguments::RunArgs;

/// Runs cargo; its exit code is ours.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    check(&args.arch, &args.float)?;
    let cargo = super::cargo();
    let mut command = Command::new(&cargo);
    command.arg("run").args(&args.cargo);
    device_options(&mut command, &args.arch, &args.float);
    let status = command
        .status()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", cargo.display())))?;
    // A program ended by a signal has no code.
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101)))
}

/// Refuses what the build script would refuse, before anything is compiled.
pub fn check(archs: &[String], float: &FloatSettings) -> Result<()> {
    parse_archs(archs)?;
    float.modes().map(|_| ())
}

/// Hands options for the kernels to the build script.
pub fn device_options(cargo: &mut Command, archs: &[String], float: &FloatSettings) {
    if !archs.is_empty() {
        cargo.env("RUST_PTX_ARCH", archs.join(","));
    }
    let modes: Vec<String> = float.assignments().collect();
    if !modes.is_empty() {
        cargo.env(float::VARIABLE, modes.join(","));
    }
}

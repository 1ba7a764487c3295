//! `cargo ptx run`: `cargo run`, whose build script compiles the kernels, with architecture, floating-point modes and panics chosen here.

use std::process::Command;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::options::parse_archs;
use crate::{float, panics};

use super::arguments::{DeviceArgs, RunArgs};

/// Runs cargo; its exit code is ours.
pub fn run(args: &RunArgs) -> Result<u8> {
    check(&args.device)?;
    let cargo = super::cargo();
    let mut command = Command::new(&cargo);
    command.arg("run").args(&args.cargo);
    set(&mut command, &args.device);
    let status = command
        .status()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", cargo.display())))?;
    // A program ended by a signal has no code.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

/// Refuses what the build script would refuse, before anything is compiled.
pub fn check(device: &DeviceArgs) -> Result<()> {
    parse_archs(&device.arch)?;
    device.float.modes().map(|_| ())
}

/// Hands the options for the kernels to the build script.
pub fn set(cargo: &mut Command, device: &DeviceArgs) {
    if !device.arch.is_empty() {
        cargo.env("RUST_PTX_ARCH", device.arch.join(","));
    }
    let modes: Vec<String> = device.float.assignments().collect();
    if !modes.is_empty() {
        cargo.env(float::VARIABLE, modes.join(","));
    }
    if let Some(strategies) = device.panic.to_variable() {
        cargo.env(panics::VARIABLE, strategies);
    }
}

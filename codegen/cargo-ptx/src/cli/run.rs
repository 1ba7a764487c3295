//! `cargo ptx run`: `cargo run`, whose build script compiles the kernels, with architecture, floating-point modes and panics chosen here.

use std::process::Command;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_project::options::{arch, float, panics};
use ptx_project::wrapper;

use super::arguments::{ProgramArgs, RunArgs};

/// Runs cargo; its exit code is ours.
pub fn run(args: &RunArgs) -> Result<u8> {
    let cargo = super::environment::cargo();
    let mut command = Command::new(&cargo);
    command.arg("run");
    set(&mut command, &args.build)?;
    command.args(args.message_format.iter().flat_map(|format| ["--message-format", format]));
    command.arg("--").args(&args.program);
    let status = command
        .status()
        .map_err(|e| Diagnostic::error(Code::CargoFailed, format!("cannot run `{}`: {e}", cargo.display())))?;
    // A program ended by a signal has no code.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101))
}

/// Gives cargo its options, has notes of ours stand under rustc's errors, and hands the options for the kernels to the build
/// script. What that would refuse is refused before anything is compiled.
pub fn set(cargo: &mut Command, args: &ProgramArgs) -> Result<()> {
    let device = &args.device;
    let mut archs = device.arch.clone();
    arch::check(&mut archs, arch::From::Argument)?;
    device.float.modes()?;
    cargo.args(args.to_cargo());
    if !args.cargo.common.config.iter().any(|config| config.contains("rustc")) {
        wrapper::add_notes(cargo, &super::environment::current_dir());
    }
    if args.cargo.common.is_offline() {
        // For the cargo of the build script, too.
        cargo.env("CARGO_NET_OFFLINE", "true");
    }
    if !archs.is_empty() {
        cargo.env(arch::VARIABLE, archs.join(","));
    }
    let modes: Vec<String> = device.float.assignments().collect();
    if !modes.is_empty() {
        cargo.env(float::VARIABLE, modes.join(","));
    }
    if let Some(strategies) = device.panic.to_variable() {
        cargo.env(panics::VARIABLE, strategies);
    }
    Ok(())
}

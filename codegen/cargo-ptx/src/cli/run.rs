//! `cargo ptx run`: `cargo run`, whose build script compiles the kernels, with architecture, floating-point modes and panics chosen here.

use std::ffi::OsString;
use std::process::Command;

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_project::options::parse_archs;
use ptx_project::options::{float, panics};

use super::arguments::{DeviceArgs, RunArgs};

/// Runs cargo; its exit code is ours.
pub fn run(args: &RunArgs) -> Result<u8> {
    check(&args.device)?;
    misplaced(&args.cargo)?;
    let cargo = super::environment::cargo();
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

/// Refuses modes among cargo's arguments, of which cargo would say only that it does not know them.
fn misplaced(cargo: &[OsString]) -> Result<()> {
    let own = cargo.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    let Some(mode) = own.into_iter().find(|arg| arg.strip_prefix("--").is_some_and(float::is_mode)) else {
        return Ok(());
    };
    Err(Diagnostic::error(
        Code::Usage,
        format!("`{mode}` stands behind an argument of cargo's, which does not know it"),
    )
    .help(format!("put it first, as in `cargo ptx run {mode} --release`"))
    .into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_stand_before_cargos_arguments() {
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let error = misplaced(&args("--release --use-fast-math")).unwrap_err().to_string();
        assert!(error.contains("`cargo ptx run --use-fast-math --release`"), "{error}");
        assert!(misplaced(&args("--release --bin x -- --ftz=true")).is_ok());
    }
}

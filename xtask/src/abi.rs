//! `cargo xtask abi-fuzz`, and the code with which a GPU tests the ABI.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::{setup, shell};

/// Of the round trips: the device runs these signatures.
const SEED: &str = "7";

/// How many of them.
const COUNT: &str = "240";

/// Compares so many random signatures.
pub fn fuzz(seed: u64, count: u32) -> Result<ExitCode> {
    setup::run()?;
    let mut command = program();
    command.args(["--seed", &seed.to_string(), "--count", &count.to_string()]);
    Ok(if command.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compiles Rust and CUDA C++ that call each other, and links them, into the folder.
pub fn round_trips(folder: &Path) -> Result<()> {
    shell::run(program().args(["--seed", SEED, "--count", COUNT, "--round-trips"]).arg(folder))
}

/// Whether NVIDIA's driver is on this machine. Building the round trips takes most of a minute, for nothing where it is
/// not.
pub fn can_run() -> bool {
    Path::new("/proc/driver/nvidia/version").exists()
}

fn program() -> Command {
    let mut command = shell::cargo();
    command.args(["run", "--quiet", "--bin", "abi-fuzz", "--"]);
    command
}

//! Runs the kernels of lib.rs and checks them against the same crates on the CPU, and against published results.
//!
//! `--json` prints one JSON object instead of text.

mod hashes;
mod matrices;
mod random;

use std::process::ExitCode;

use anyhow::{Result, bail};
use ptx::prelude::*;
use serde_json::{Value, json};

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

/// One row of the table.
struct Check {
    name: String,
    passed: bool,
    detail: String,
}

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let device = match Device::first() {
        Ok(device) => Some(device),
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            if !as_json {
                println!("no CUDA device: {error}");
                println!("checked instead: the same functions on the CPU, and what ptxas says of the kernels");
            }
            None
        }
        Err(error) => return Err(error.into()),
    };
    let module = device.as_ref().map(|device| device.load(&IMAGE)).transpose()?;
    let mut checks = assembled(&IMAGE);
    checks.extend(hashes::check(module.as_ref())?);
    checks.extend(matrices::check(module.as_ref())?);
    if as_json {
        println!("{}", record(device.as_ref(), &checks)?);
    } else {
        print(device.as_ref(), &checks);
    }
    Ok(if checks.iter().all(|c| c.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What ptxas said when this program was built.
fn assembled(image: &ptx::Image) -> Vec<Check> {
    let row = |kernel: &ptx::KernelRecord| {
        let used: Vec<_> = kernel
            .resources
            .iter()
            .map(|r| format!("{}: {} registers, {} stack", r.arch, r.registers, r.stack))
            .collect();
        let detail = if used.is_empty() { "ptxas was not found".to_owned() } else { used.join("; ") };
        Check { name: format!("ptxas {}", kernel.name), passed: true, detail }
    };
    image.kernels().iter().map(row).collect()
}

fn print(device: Option<&Device>, checks: &[Check]) {
    println!("{}", device.map_or("on the CPU".to_owned(), |d| format!("on {} ({})", d.name(), d.arch())));
    for check in checks {
        println!("{:<4} {:<28} {}", if check.passed { "ok" } else { "BAD" }, check.name, check.detail);
    }
}

fn record(device: Option<&Device>, checks: &[Check]) -> Result<Value> {
    let driver = device.map(Device::driver_version).transpose()?;
    let results: Vec<_> =
        checks.iter().map(|c| json!({ "name": c.name, "passed": c.passed, "detail": c.detail })).collect();
    Ok(json!({
        "example": "crates",
        "device": device.map(Device::name),
        "arch": device.map(Device::arch),
        "driver": driver.map(|(major, minor)| format!("{major}.{minor}")),
        "results": results,
    }))
}

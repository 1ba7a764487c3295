//! Launches the kernel of lib.rs and checks its result against the CPU's.
//!
//! `--json` prints one JSON object instead of text.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use ptx::prelude::*;
use saxpy::saxpy;
use serde_json::{Value, json};

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

const N: usize = 1 << 24;
const A: f32 = 2.5;

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let say = |text: String| {
        if !as_json {
            println!("{text}");
        }
    };
    for line in describe(&IMAGE) {
        say(line);
    }
    let record = match Device::first() {
        Ok(device) => {
            let record = launch(&device)?;
            say(format!(
                "ran on {}: {N} elements in {:.3} ms, {} differ from the CPU's",
                device.name(),
                record["milliseconds"].as_f64().unwrap_or_default(),
                record["wrong"],
            ));
            record
        }
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            say(format!("no CUDA device: {error}"));
            let assembled = assembled(&IMAGE);
            say(if assembled.is_empty() {
                "not checked: ptxas was not found when this was built; `cargo xtask setup` gets it".to_owned()
            } else {
                format!("checked instead: ptxas accepted the PTX for {}", assembled.join(", "))
            });
            json!({ "example": "saxpy", "device": null, "skipped": error.to_string(), "assembled": assembled })
        }
        Err(error) => return Err(error.into()),
    };
    if as_json {
        println!("{record}");
    }
    Ok(if record["wrong"] == 0 || record["device"].is_null() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the kernel twice, the second time for its time, and compares.
fn launch(device: &Device) -> Result<Value> {
    let x: Vec<f32> = (0..N).map(|i| (i % 1000) as f32 * 0.25).collect();
    let y: Vec<f32> = (0..N).map(|i| (i % 777) as f32 - 300.0).collect();

    let module = device.load(&IMAGE)?;
    let x_device = device.upload(&x)?;
    let mut warm_up = device.upload(&y)?;
    saxpy(A, &x_device, &mut warm_up).launch(&module, Grid::cover(N, 256))?;
    let mut y_device = device.upload(&y)?;
    device.synchronize()?;
    let start = Instant::now();
    saxpy(A, &x_device, &mut y_device).launch(&module, Grid::cover(N, 256))?;
    device.synchronize()?;
    let elapsed = start.elapsed();

    // A compiler for GPUs may round `a * x + y` once or twice; both are right.
    let right = |(r, (x, y)): (&f32, (&f32, &f32))| *r == A * x + y || *r == A.mul_add(*x, *y);
    let result = device.download(&y_device)?;
    let wrong = result.iter().zip(x.iter().zip(&y)).filter(|item| !right(*item)).count();
    let (major, minor) = device.driver_version()?;
    let passed = wrong == 0 && result.len() == N;
    Ok(json!({
        "example": "saxpy",
        "device": device.name(),
        "arch": device.arch(),
        "driver": format!("{major}.{minor}"),
        "loaded": module.loaded(),
        "elements": N,
        "wrong": wrong,
        "milliseconds": elapsed.as_secs_f64() * 1e3,
        "results": [{ "name": "saxpy", "passed": passed, "detail": format!("{wrong} of {N} differ from the CPU's") }],
    }))
}

/// Where the PTX is, and what each kernel uses.
fn describe(image: &ptx::Image) -> Vec<String> {
    let mut lines: Vec<String> =
        image.objects().iter().map(|object| format!("PTX for {}: {}", object.arch, object.ptx_path)).collect();
    lines.push(format!(
        "{:<10} {:<8} {:>9} {:>6} {:>13} {:>12} {:>7} {:>9}",
        "kernel", "arch", "registers", "stack", "spill stores", "spill loads", "shared", "constant"
    ));
    for kernel in image.kernels() {
        for r in kernel.resources {
            let constant = r.constant.map_or("-".to_string(), |bytes| bytes.to_string());
            lines.push(format!(
                "{:<10} {:<8} {:>9} {:>6} {:>13} {:>12} {:>7} {:>9}",
                kernel.name, r.arch, r.registers, r.stack, r.spill_stores, r.spill_loads, r.shared, constant
            ));
        }
        if kernel.resources.is_empty() {
            lines.push(format!("{:<10} ptxas was not found, so what it uses is not known", kernel.name));
        }
    }
    lines
}

/// The architectures for which ptxas took the kernels.
fn assembled(image: &ptx::Image) -> Vec<&'static str> {
    let took = |arch: &str| image.kernels().iter().all(|kernel| kernel.resources.iter().any(|r| r.arch == arch));
    image.objects().iter().map(|object| object.arch).filter(|arch| took(arch)).collect()
}

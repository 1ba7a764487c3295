//! NVIDIA's white paper "Floating Point and IEEE 754 Compliance for NVIDIA GPUs" (12.8), reproduced: its tables, with what
//! the CPU and the GPU compute beside them. Every value is checked bit for bit; the exit status says whether all agree.
//!
//! `--json` prints one JSON object instead of text.

mod arithmetic;
mod cuda;
mod dot;
mod functions;
mod gpu;
mod instructions;
mod table;
mod verifying;

use std::process::ExitCode;

use anyhow::{Result, bail};
use ptx::prelude::*;
use serde_json::{Value, json};

use gpu::Gpu;
use table::Section;

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let gpu = match Device::first() {
        Ok(device) => Some(Gpu { module: device.load(&IMAGE)?, device }),
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            if !as_json {
                println!("no CUDA device: {error}");
                println!("checked instead: the CPU's values, and the instructions in the PTX");
            }
            None
        }
        Err(error) => return Err(error.into()),
    };
    let sections = sections(gpu.as_ref())?;
    let passed = sections.iter().all(Section::passed);
    if as_json {
        println!("{}", record(gpu.as_ref(), &sections)?);
    } else {
        if let Some(gpu) = &gpu {
            println!("GPU: {} ({})", gpu.device.name(), gpu.module.loaded());
        }
        sections.iter().for_each(|section| print!("{section}"));
        let wrong = sections.iter().filter(|section| !section.passed()).count();
        println!("\n{} sections of the paper, {wrong} with differences", sections.len());
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The paper's, in its order.
fn sections(gpu: Option<&Gpu>) -> Result<Vec<Section>> {
    Ok(vec![
        arithmetic::formats(gpu)?,
        arithmetic::order(gpu)?,
        arithmetic::decimal(),
        arithmetic::contraction(gpu)?,
        dot::table(gpu)?,
        cuda::rounding_modes(gpu)?,
        instructions::table(&IMAGE),
        cuda::flags(gpu)?,
        cuda::exceptions(gpu)?,
        functions::accuracy(gpu)?,
        verifying::core_counts(gpu)?,
        verifying::precision(gpu)?,
    ])
}

fn record(gpu: Option<&Gpu>, sections: &[Section]) -> Result<Value> {
    let driver = gpu.map(|gpu| gpu.device.driver_version()).transpose()?;
    Ok(json!({
        "example": "float-paper",
        "device": gpu.map(|gpu| gpu.device.name()),
        "arch": gpu.map(|gpu| gpu.device.arch()),
        "driver": driver.map(|(major, minor)| format!("{major}.{minor}")),
        "results": sections.iter().map(Section::json).collect::<Vec<_>>(),
    }))
}

//! Runs the kernels of lib.rs and checks them against plain loops on the CPU. Where there is no GPU, the CPU runs the
//! kernels, too.
//!
//! `--json` prints one JSON object instead of text.
#![forbid(unsafe_code)]

mod checks;

use std::process::ExitCode;

use anyhow::{Result, bail};
use ptx::cudarc::driver::DeviceRepr;
use ptx::prelude::*;
use ptx::{CpuMemory, DeviceWrite, Launch};
use serde_json::json;

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

/// A kernel's result beside the CPU's.
struct Check {
    name: &'static str,
    passed: bool,
    detail: String,
}

/// Where kernels run.
trait Place {
    /// How many blocks may wait for each other.
    const AT_ONCE: u32;

    /// Memory of that place.
    type Memory<T: AbiType + DeviceRepr>: DeviceWrite<T>;

    /// Memory with these values.
    fn upload<T: AbiType + DeviceRepr>(&self, values: &[T]) -> Result<Self::Memory<T>>;

    /// What is in it now.
    fn download<T: AbiType + DeviceRepr>(&self, memory: Self::Memory<T>) -> Result<Vec<T>>;

    /// Launches a kernel.
    fn launch(&self, launch: Launch<'_>, grid: Grid) -> Result<()>;
}

struct Gpu {
    device: Device,
    module: Module,
}

impl Place for Gpu {
    const AT_ONCE: u32 = 4;

    type Memory<T: AbiType + DeviceRepr> = CudaSlice<T>;

    fn upload<T: AbiType + DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>> {
        Ok(self.device.upload(values)?)
    }

    fn download<T: AbiType + DeviceRepr>(&self, memory: CudaSlice<T>) -> Result<Vec<T>> {
        Ok(self.device.download(&memory)?)
    }

    fn launch(&self, launch: Launch<'_>, grid: Grid) -> Result<()> {
        Ok(launch.launch(&self.module, grid)?)
    }
}

struct Cpu;

impl Place for Cpu {
    const AT_ONCE: u32 = 1;

    type Memory<T: AbiType + DeviceRepr> = CpuMemory<T>;

    fn upload<T: AbiType + DeviceRepr>(&self, values: &[T]) -> Result<CpuMemory<T>> {
        Ok(CpuMemory::from(values))
    }

    fn download<T: AbiType + DeviceRepr>(&self, memory: CpuMemory<T>) -> Result<Vec<T>> {
        Ok(memory.into_vec())
    }

    fn launch(&self, launch: Launch<'_>, grid: Grid) -> Result<()> {
        Ok(launch.launch_on_cpu(grid)?)
    }
}

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
                println!("checked instead: the same kernels, run by the CPU");
            }
            None
        }
        Err(error) => return Err(error.into()),
    };
    let checks = gpu.as_ref().map_or_else(|| checks::all(&Cpu), checks::all)?;
    let device = gpu.as_ref().map(|gpu| &gpu.device);
    if as_json {
        let row = |c: &Check| json!({ "name": c.name, "passed": c.passed, "detail": c.detail });
        let results: Vec<_> = checks.iter().map(row).collect();
        let (name, arch) = (device.map(Device::name), device.map(Device::arch));
        println!("{}", json!({ "example": "algorithms", "device": name, "arch": arch, "results": results }));
    } else {
        println!("{}", device.map_or("on the CPU".to_owned(), |device| format!("on {}", device.name())));
        for Check { name, passed, detail } in &checks {
            println!("{:<4} {name:<22} {detail}", if *passed { "ok" } else { "BAD" });
        }
    }
    Ok(if checks.iter().all(|check| check.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

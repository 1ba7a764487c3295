//! Launches the kernel of lib.rs and checks its result against the CPU's.
#![forbid(unsafe_code)]

use std::time::Instant;

use anyhow::{Result, ensure};
use ptx::prelude::*;
use saxpy::saxpy;

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

const N: usize = 1 << 24;
const A: f32 = 2.5;

fn main() -> Result<()> {
    describe(&IMAGE);
    match Device::first() {
        Ok(device) => launch(&device),
        Err(error @ (ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. })) => {
            println!("no CUDA device: {error}");
            let assembled = assembled(&IMAGE);
            if assembled.is_empty() {
                println!("not checked: ptxas was not found when this was built; `cargo xtask setup` gets it");
            } else {
                println!("checked instead: ptxas accepted the PTX for {}", assembled.join(", "));
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs the kernel twice, the second time for its time, and compares.
fn launch(device: &Device) -> Result<()> {
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
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;

    // A compiler for GPUs may round `a * x + y` once or twice; both are right.
    let right = |(r, (x, y)): (&f32, (&f32, &f32))| *r == A * x + y || *r == A.mul_add(*x, *y);
    let result = device.download(&y_device)?;
    let wrong = result.iter().zip(x.iter().zip(&y)).filter(|item| !right(*item)).count();
    println!("ran on {}: {N} elements in {milliseconds:.3} ms, {wrong} differ from the CPU's", device.name());
    ensure!(wrong == 0 && result.len() == N, "the device's result is not the CPU's");
    Ok(())
}

/// Where the PTX is, and what each kernel uses.
fn describe(image: &ptx::Image) {
    for object in image.objects() {
        println!("PTX for {}: {}", object.arch, object.ptx_path);
    }
    println!(
        "{:<10} {:<8} {:>9} {:>6} {:>13} {:>12} {:>7} {:>9}",
        "kernel", "arch", "registers", "stack", "spill stores", "spill loads", "shared", "constant"
    );
    for kernel in image.kernels() {
        for r in kernel.resources {
            let constant = r.constant.map_or("-".to_string(), |bytes| bytes.to_string());
            println!(
                "{:<10} {:<8} {:>9} {:>6} {:>13} {:>12} {:>7} {:>9}",
                kernel.name, r.arch, r.registers, r.stack, r.spill_stores, r.spill_loads, r.shared, constant
            );
        }
        if kernel.resources.is_empty() {
            println!("{:<10} ptxas was not found, so what it uses is not known", kernel.name);
        }
    }
}

/// The architectures for which ptxas took the kernels.
fn assembled(image: &ptx::Image) -> Vec<&'static str> {
    let took = |arch: &str| image.kernels().iter().all(|kernel| kernel.resources.iter().any(|r| r.arch == arch));
    image.objects().iter().map(|object| object.arch).filter(|arch| took(arch)).collect()
}

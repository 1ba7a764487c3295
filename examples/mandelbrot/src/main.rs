//! Launches the kernel of lib.rs, which launches itself, and checks the picture against the CPU's. Where there is no GPU, the
//! CPU runs the kernels, too.
//!
//! `--json` prints one JSON object instead of text.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Result, bail};
use mandelbrot::{FIRST, SIZE, THREADS, squares, squares_on_host, steps};
use ptx::CpuMemory;
use ptx::prelude::*;
use serde_json::json;

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

fn main() -> Result<ExitCode> {
    let as_json = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--json") => true,
        Some(other) => bail!("unknown argument `{other}`: the only one is `--json`"),
    };
    let pixels = (SIZE * SIZE) as usize;
    let grid = Grid::new((SIZE / FIRST, SIZE / FIRST), THREADS);
    let (device, arch, image) = match Device::first() {
        Ok(device) => {
            let module = device.load(&IMAGE)?;
            let mut image = device.zeroed::<u32>(pixels)?;
            // The children have ended, too, when the host has waited.
            squares(0, 0, FIRST, &mut image).launch(&module, grid)?;
            (Some(device.name().to_owned()), Some(device.arch()), device.download(&image)?)
        }
        Err(ptx::Error::NoDriver { .. } | ptx::Error::NoDevice { .. }) => {
            let mut image = CpuMemory::from(vec![0_u32; pixels]);
            squares(0, 0, FIRST, &mut image).launch_on_cpu(grid)?;
            (None, None, image.into_vec())
        }
        Err(error) => return Err(error.into()),
    };

    let mut expected = vec![0; pixels];
    let firsts = (0..SIZE / FIRST).flat_map(|j| (0..SIZE / FIRST).map(move |i| (i * FIRST, j * FIRST)));
    let looked_at: usize = firsts.map(|(x, y)| squares_on_host(x, y, FIRST, &mut expected)).sum();
    // A block for which no launch has room computes each of its pixels.
    let is_wrong = |i: &usize| image[*i] != expected[*i] && image[*i] != steps(*i as u32 % SIZE, *i as u32 / SIZE);
    let wrong = (0..pixels).filter(is_wrong).count();
    if as_json {
        let detail = format!("{wrong} of {pixels} pixels are wrong");
        let results = [json!({ "name": "squares", "passed": wrong == 0, "detail": detail })];
        println!("{}", json!({ "example": "mandelbrot", "device": device, "arch": arch, "results": results }));
    } else {
        println!("on {}", device.as_deref().unwrap_or("the CPU, as there is no CUDA device"));
        println!("{wrong} of {pixels} pixels are wrong; {looked_at} squares were looked at");
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

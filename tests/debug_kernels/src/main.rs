//! Launches one kernel with 32 threads, for `cuda-gdb --args ptx-debug-kernels enums`.

use std::process::ExitCode;

use ptx::DevicePointer;
use ptx::prelude::*;
use ptx_debug_kernels::printed::printed;
use ptx_debug_kernels::shapes::{closures, enums, views};
use ptx_debug_kernels::twin::{Pair, aggregates, statics};

const THREADS: usize = 32;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match run(&name) {
        Ok(Some(result)) => {
            println!("{name}: {result}");
            ExitCode::SUCCESS
        }
        Ok(None) => {
            eprintln!("name a kernel: enums, views, closures, printed, aggregates or statics");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the last thread, or the only writer, computed.
fn run(kernel: &str) -> ptx::Result<Option<f64>> {
    let device = Device::first()?;
    let module = device.load(&ptx::image!())?;
    let grid = Grid::cover(THREADS, THREADS as u32);
    let input: Vec<f32> = (0..THREADS).map(|i| i as f32 + 0.5).collect();
    let input = device.upload(&input)?;
    let mut floats = device.upload(&[0.0_f32; THREADS])?;
    let mut ints = device.upload(&[0_i32; THREADS])?;
    let pointer = DevicePointer::of_mut(&mut ints, device.stream());
    match kernel {
        "enums" => enums(2.0, &input, &mut floats).launch(&module, grid)?,
        "views" => views(&input, &mut floats).launch(&module, grid)?,
        "printed" => printed(&input, &mut floats).launch(&module, grid)?,
        "closures" => closures(10, &mut ints).launch(&module, grid)?,
        // SAFETY: the buffer has an element for every thread, and lives until the result is read.
        "aggregates" => unsafe { aggregates(pointer, Pair { a: 7, b: 1.5 }).launch(&module, grid)? },
        // SAFETY: the same.
        "statics" => unsafe { statics(pointer).launch(&module, grid)? },
        _ => return Ok(None),
    }
    let last = match kernel {
        "enums" | "views" | "printed" => device.download(&floats)?.last().copied().map(f64::from),
        _ => device.download(&ints)?.first().copied().map(f64::from),
    };
    Ok(last)
}

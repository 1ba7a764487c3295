//! What a launch costs the host: typed and prepared launches beside a bare loop of `cuLaunchKernel`, in one run; then graphs, and
//! copies beside kernels.

use std::ffi::c_void;
use std::time::Instant;

use anyhow::Result;
use ptx::cudarc::driver::{DevicePtr, DevicePtrMut, result};
use ptx::{Device, Grid};
use ptx_bench_kernels::streams::saxpy;
use ptx_bench_table::statistics::median;
use serde_json::{Value, json};

use crate::gpu::RUST;
use crate::program::Program;
use crate::{graphs, overlap};

/// Launches of each side, all rounds together.
const LAUNCHES: u32 = 100_000;

/// In each round every side launches so often, and waits then: the driver takes as many without waiting for the device.
const AT_ONCE: u32 = 500;

/// Elements, so few that the device is done before the host.
const ELEMENTS: usize = 32;

/// The sides, in their order.
const SIDES: [&str; 3] = ["bare", "typed", "prepared"];

/// Nanoseconds a launch of each side, and the ratios to the bare loop: `host` until the calls have returned, `whole` until
/// the device is done.
pub fn measure() -> Result<Value> {
    let device = Device::first()?;
    let module = device.load(&RUST)?;
    let stream = device.stream().clone();
    let x = device.upload(&[1.0_f32; ELEMENTS])?;
    let mut y = device.zeroed::<f32>(ELEMENTS)?;
    let grid = Grid::new(1, ELEMENTS as u32);

    let function = module.function("saxpy")?;
    let (mut factor, length) = (1.0_f32, ELEMENTS as u64);
    let mut words = [x.device_ptr(&stream).0, length, y.device_ptr_mut(&stream).0, length];
    let mut pointers: Vec<*mut c_void> = vec![(&raw mut factor).cast()];
    pointers.extend(words.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()));
    let mut bare = || -> Result<()> {
        for _ in 0..AT_ONCE {
            // SAFETY: a number and two slices, as the kernel takes them.
            unsafe {
                result::launch_kernel(
                    function,
                    (1, 1, 1),
                    (ELEMENTS as u32, 1, 1),
                    0,
                    stream.cu_stream(),
                    &mut pointers,
                )
            }?;
        }
        Ok(())
    };

    let mut figures: [[Vec<f64>; 2]; 3] = Default::default();
    for round in 0..LAUNCHES / AT_ONCE + 1 {
        for turn in 0..SIDES.len() {
            // No side is always the one after the wait of the same other.
            let side = (turn + round as usize) % SIDES.len();
            let begin = Instant::now();
            match side {
                0 => bare()?,
                1 => {
                    for _ in 0..AT_ONCE {
                        saxpy(1.0, &x, &mut y).launch(&module, grid)?;
                    }
                }
                _ => {
                    let mut prepared = saxpy(1.0, &x, &mut y).prepare(&module, grid)?;
                    for _ in 0..AT_ONCE {
                        prepared.launch()?;
                    }
                }
            }
            let host = begin.elapsed();
            device.synchronize()?;
            let whole = begin.elapsed();
            // The first round warms up.
            if round > 0 {
                for (kind, time) in figures[side].iter_mut().zip([host, whole]) {
                    kind.push(time.as_secs_f64() * 1e9 / f64::from(AT_ONCE));
                }
            }
        }
    }
    let medians = figures.map(|kinds| kinds.map(|kind| median(&kind)));
    let of = |kind: usize| {
        let values = SIDES.iter().zip(&medians).map(|(side, medians)| (side.to_string(), json!(medians[kind])));
        values.collect::<serde_json::Map<_, _>>()
    };
    let ratios =
        |side: usize| json!({ "host": medians[side][0] / medians[0][0], "whole": medians[side][1] / medians[0][1] });
    let program = Program::load(&device);
    // Streams make launches take notes of memory, so that comes last.
    let beside = |measure: fn(&Device, &Program) -> Result<Value>| match &program {
        Ok(program) => measure(&device, program).unwrap_or_else(|error| json!({ "error": format!("{error:#}") })),
        Err(error) => json!({ "error": format!("{error:#}") }),
    };
    let (graphs, overlap) = (beside(graphs::measure), beside(overlap::measure));
    Ok(json!({
        "gpu": device.name(),
        "launches": LAUNCHES,
        "host_ns": of(0),
        "whole_ns": of(1),
        "typed_ratio": ratios(1),
        "prepared_ratio": ratios(2),
        "graphs": graphs,
        "overlap": overlap,
    }))
}

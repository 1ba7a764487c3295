//! Copies and kernels at the same time on streams, beside the same program in CUDA C++, in one run.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use ptx::{CudaSlice, CudaStream, Device, Grid, Module, PinnedHostSlice, StreamHostMemory, StreamMemory};
use ptx_bench_kernels::streams::saxpy;
use ptx_bench_table::statistics::median;
use serde_json::{Value, json};

use crate::gpu::RUST;
use crate::program::Program;

/// Streams, each with memory of its own.
const STREAMS: u32 = 4;

/// Elements of a part: 8 MiB.
const ELEMENTS: usize = 2 << 20;

/// Parts of a sample, each copied to the device, worked on and copied back.
const PARTS: u32 = 32;

/// Launches of a part.
const KERNELS: u32 = 4;

/// Samples of each side.
const ROUNDS: usize = 15;

/// What a stream has for itself, bound to it.
struct Lane {
    stream: Arc<CudaStream>,
    x: StreamMemory<f32>,
    y: StreamMemory<f32>,
    input: StreamHostMemory<f32>,
    output: StreamHostMemory<f32>,
}

/// The same in cudarc's own types, which note in events what uses them.
struct Noted {
    stream: Arc<CudaStream>,
    x: CudaSlice<f32>,
    y: CudaSlice<f32>,
    input: PinnedHostSlice<f32>,
    output: PinnedHostSlice<f32>,
}

/// Microseconds of all parts on several streams, and on one, for both sides, and the ratios of Rust to CUDA C++; and on several of
/// memory that is not bound to them.
pub fn measure(device: &Device, program: &Program) -> Result<Value> {
    let module = device.load(&RUST)?;
    let mut many = lanes(device, STREAMS)?;
    let mut one = lanes(device, 1)?;
    let mut noted = all_noted(device)?;
    let (cuda_many, cuda_one) = (program.overlap(STREAMS, ELEMENTS)?, program.overlap(1, ELEMENTS)?);
    let mut times: [Vec<f64>; 5] = Default::default();
    for round in 0..=ROUNDS {
        for turn in 0..times.len() {
            let side = (turn + round) % times.len();
            let begin = Instant::now();
            match side {
                0 => run(device, &module, &mut many)?,
                1 => cuda_many.run(PARTS, KERNELS)?,
                2 => run(device, &module, &mut one)?,
                3 => run_noted(device, &module, &mut noted)?,
                _ => cuda_one.run(PARTS, KERNELS)?,
            }
            // The first round warms up.
            if round > 0 {
                times[side].push(begin.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let [rust, cuda, rust_one, noted, cuda_one] = times.map(|times| median(&times));
    Ok(json!({
        "streams": STREAMS,
        "parts": PARTS,
        "bytes": ELEMENTS * size_of::<f32>(),
        "us": { "rust": rust, "cuda": cuda, "noted": noted },
        "us_on_one_stream": { "rust": rust_one, "cuda": cuda_one },
        "ratio": rust / cuda,
        "ratio_noted": noted / cuda,
        "ratio_on_one_stream": rust_one / cuda_one,
    }))
}

fn lanes(device: &Device, streams: u32) -> Result<Vec<Lane>> {
    let lane = |_| -> Result<Lane> {
        let stream = device.new_stream()?;
        let memory = || device.bind(device.zeroed(ELEMENTS)?, &stream);
        let host = || device.bind_host(device.pinned_zeroed(ELEMENTS)?, &stream);
        let (x, y, input, output) = (memory()?, memory()?, host()?, host()?);
        Ok(Lane { stream, x, y, input, output })
    };
    let lanes = (0..streams).map(lane).collect();
    device.synchronize()?;
    lanes
}

/// As of `overlap_run` in `cuda/host.cpp`.
fn run(device: &Device, module: &Module, lanes: &mut [Lane]) -> Result<()> {
    for part in 0..PARTS as usize {
        let count = lanes.len();
        let Lane { stream, x, y, input, output } = &mut lanes[part % count];
        x.upload(input)?;
        for _ in 0..KERNELS {
            saxpy(1.0, x, y).launch_on(module, stream, Grid::cover(ELEMENTS, 256))?;
        }
        y.download(output)?;
    }
    device.synchronize()?;
    Ok(())
}

fn all_noted(device: &Device) -> Result<Vec<Noted>> {
    let lane = |_| -> Result<Noted> {
        Ok(Noted {
            stream: device.new_stream()?,
            x: device.zeroed(ELEMENTS)?,
            y: device.zeroed(ELEMENTS)?,
            input: device.pinned_zeroed(ELEMENTS)?,
            output: device.pinned_zeroed(ELEMENTS)?,
        })
    };
    let lanes = (0..STREAMS).map(lane).collect();
    device.synchronize()?;
    lanes
}

/// As [`run`].
fn run_noted(device: &Device, module: &Module, lanes: &mut [Noted]) -> Result<()> {
    for part in 0..PARTS as usize {
        let count = lanes.len();
        let Noted { stream, x, y, input, output } = &mut lanes[part % count];
        stream.memcpy_htod(input, x)?;
        for _ in 0..KERNELS {
            saxpy(1.0, x, y).launch_on(module, stream, Grid::cover(ELEMENTS, 256))?;
        }
        stream.memcpy_dtoh(y, output)?;
    }
    device.synchronize()?;
    Ok(())
}

//! What it costs to start a graph again, beside the same graph in CUDA C++, in one run.

use std::time::Instant;

use anyhow::Result;
use ptx::{Device, Grid};
use ptx_bench_kernels::streams::saxpy;
use ptx_bench_table::statistics::median;
use serde_json::{Value, json};

use crate::gpu::RUST;
use crate::program::Program;

/// Launches of the graph, one after the other.
const NODES: u32 = 20;

/// Starts of each side, all rounds together.
const STARTS: u32 = 10_000;

/// In each round both sides start it so often, and wait then.
const AT_ONCE: u32 = 50;

/// Elements, so few that the kernels take no time.
const ELEMENTS: usize = 32;

/// Nanoseconds a start of each side, and the ratios of Rust to CUDA C++: `host` until the calls have returned, `whole` until
/// the device is done.
pub fn measure(device: &Device, program: &Program) -> Result<Value> {
    let module = device.load(&RUST)?;
    let mut graph = device.graph()?;
    let x = graph.keep(device.zeroed::<f32>(ELEMENTS)?);
    let mut y = graph.keep(device.zeroed::<f32>(ELEMENTS)?);
    for _ in 0..NODES {
        graph.add(saxpy(1.0, &x, &mut y), &module, Grid::new(1, ELEMENTS as u32))?;
    }
    let mut graph = graph.finish()?;
    let twin = program.graph(NODES, ELEMENTS)?;
    let mut figures: [[Vec<f64>; 2]; 2] = Default::default();
    for round in 0..STARTS / AT_ONCE + 1 {
        for turn in 0..2 {
            let side = (turn + round as usize) % 2;
            let begin = Instant::now();
            if side == 0 {
                (0..AT_ONCE).try_for_each(|_| graph.launch())?;
            } else {
                twin.launch(AT_ONCE)?;
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
    let [rust, cuda] = figures.map(|kinds| kinds.map(|kind| median(&kind)));
    Ok(json!({
        "nodes": NODES,
        "starts": STARTS,
        "host_ns": { "rust": rust[0], "cuda": cuda[0] },
        "whole_ns": { "rust": rust[1], "cuda": cuda[1] },
        "ratio": { "host": rust[0] / cuda[0], "whole": rust[1] / cuda[1] },
    }))
}

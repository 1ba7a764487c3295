//! A sum and a training on any number of GPUs: each has a part of the data, and NCCL adds up what they find.
//!
//! Alone, the program takes all GPUs of the machine, a thread for each, or as many as `--gpus N` says. Under torchrun or mpirun it
//! is one process of many, on one host or several, and takes one GPU:
//!
//! ```text
//! torchrun --nnodes 2 --nproc-per-node 8 --master-addr HOST --no-python target/release/data-parallel
//! mpirun -np 16 -x MASTER_ADDR=HOST -x MASTER_PORT=29500 target/release/data-parallel
//! ```
//!
//! NCCL is loaded when it is first needed, as `libnccl.so`; without it, the program alone takes one GPU. `--json` prints one JSON object instead of text.

mod world;

use std::process::ExitCode;
use std::sync::Barrier;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use cudarc::nccl::sys::is_culib_present;
use cudarc::nccl::{Comm, Id, ReduceOp};
use data_parallel::{PLANE, TERMS, THREADS, WEIGHTS, gradients, sample, step, sums, total};
use ptx::prelude::*;
use serde_json::{Value, json};

use crate::world::World;

/// The device code that build.rs made.
const IMAGE: ptx::Image = ptx::image!();

/// Samples and numbers of all GPUs together.
const ITEMS: u64 = 1 << 21;

/// Steps of the training.
const STEPS: u32 = 200;

/// How far a step goes.
const RATE: f32 = 0.5;

/// What a rank finds.
struct Found {
    device: String,
    sum: u64,
    first_error: f64,
    error: f64,
    weights: Vec<f32>,
    seconds: f64,
}

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let count = match Device::count() {
        Ok(count) => count,
        Err(error) => {
            println!("{error}");
            println!("no CUDA device: nothing was run");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let (ranks, found) = match World::from_environment(|name| std::env::var(name).ok())? {
        Some(world) => {
            let bytes = world.share(|| if world.size > 1 { Ok(bytes_of(&new_id()?)) } else { Ok([0; 128]) })?;
            let id = (world.size > 1).then(|| id_of(bytes));
            let meet = || world.share(|| Ok([0])).map(drop);
            (world.size, rank(world.local_rank % count, world.rank, world.size, id, &meet)?)
        }
        None => {
            let asked = arguments.iter().position(|argument| argument == "--gpus").and_then(|at| arguments.get(at + 1));
            let size = match asked {
                Some(number) => number.parse().context("`--gpus` takes a number")?,
                None if count > 1 && !has_nccl() => {
                    eprintln!("{NO_NCCL}; so only the first of {count} is used");
                    1
                }
                None => count,
            };
            ensure!(size > 0 && size <= count, "this machine has {count} GPUs, not {size}");
            (size, threads(size)?)
        }
    };
    report(&found, ranks, is_json)
}

/// A thread for each GPU of this machine.
fn threads(size: usize) -> Result<Found> {
    let id = if size > 1 { Some(new_id()?) } else { None };
    let all_done = Barrier::new(size);
    let meet = || {
        all_done.wait();
        Ok(())
    };
    std::thread::scope(|scope| {
        let meet = &meet;
        let all: Vec<_> = (0..size).map(|number| scope.spawn(move || rank(number, number, size, id, meet))).collect();
        let mut found = all.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a rank panicked"))?);
        let first = found.next().context("there is a rank")??;
        for other in found {
            ensure!(other?.weights == first.weights, "the GPUs have learnt different weights");
        }
        Ok(first)
    })
}

/// What a rank does with its GPU and its part of the data. `meet` waits for all ranks.
fn rank(
    gpu: usize,
    number: usize,
    size: usize,
    id: Option<Id>,
    meet: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Found> {
    let device = Device::open(gpu)?;
    let module = device.load(&IMAGE)?;
    let stream = device.stream();
    let comm = match id {
        Some(id) => Some(Comm::from_rank(stream.clone(), number, size, id).map_err(nccl("joining the others"))?),
        None => None,
    };
    let items = ITEMS * number as u64 / size as u64..ITEMS * (number as u64 + 1) / size as u64;
    let blocks = module.resident_blocks("gradients", THREADS as u32, 0)?.max(1) as u32;
    let grid = Grid::new(blocks, THREADS as u32);

    // The sum of all squares: a part for each block, then for each GPU, then of all.
    let values = device.upload(&items.clone().map(|value| value * value).collect::<Vec<_>>())?;
    let mut parts = device.zeroed::<u64>(blocks as usize)?;
    let mut sum = device.zeroed::<u64>(1)?;
    sums(&values, &mut parts).launch(&module, grid)?;
    sums(&parts, &mut sum).launch(&module, Grid::new(1, THREADS as u32))?;
    if let Some(comm) = &comm {
        comm.all_reduce_in_place(&mut sum, &ReduceOp::Sum).map_err(nccl("adding up"))?;
    }
    let sum = device.download(&sum)?[0];

    // The training: each GPU has the gradient of its samples, and all take the same step.
    let (samples, targets): (Vec<_>, Vec<_>) = items.map(sample).unzip();
    let (samples, targets) = (device.upload(&samples)?, device.upload(&targets)?);
    let mut weights = device.zeroed::<f32>(WEIGHTS)?;
    let mut parts = device.zeroed::<f64>(blocks as usize * TERMS)?;
    let mut terms = device.zeroed::<f64>(TERMS)?;
    let (mut first_error, begin) = (0.0, Instant::now());
    for number in 0..STEPS {
        gradients(&weights, &samples, &targets, &mut parts).launch(&module, grid)?;
        total(&parts, &mut terms).launch(&module, Grid::new(1, TERMS as u32))?;
        if let Some(comm) = &comm {
            comm.all_reduce_in_place(&mut terms, &ReduceOp::Sum).map_err(nccl("adding up gradients"))?;
        }
        if number == 0 {
            first_error = device.download(&terms)?[WEIGHTS] / ITEMS as f64;
        }
        step(RATE, ITEMS as f64, &terms, &mut weights).launch(&module, Grid::new(1, WEIGHTS as u32))?;
    }
    let error = device.download(&terms)?[WEIGHTS] / ITEMS as f64;
    let seconds = begin.elapsed().as_secs_f64();
    let weights = device.download(&weights)?;
    // NCCL's group must live until the last rank has what this one sent.
    meet()?;
    Ok(Found { device: device.name().to_owned(), sum, first_error, error, weights, seconds })
}

/// What is said where NCCL is missing.
const NO_NCCL: &str = "several GPUs need NCCL, and `libnccl.so` was not found. Install it (Debian's `libnccl-dev`, or the \
    wheel `nvidia-nccl-cu13`), and name its folder in LD_LIBRARY_PATH. Where there is only `libnccl.so.2`, make a link to it \
    of the name `libnccl.so`. One GPU needs none";

fn has_nccl() -> bool {
    // SAFETY: NCCL's initialisers are sound.
    unsafe { is_culib_present() }
}

/// A new group of ranks.
fn new_id() -> Result<Id> {
    ensure!(has_nccl(), NO_NCCL);
    Id::new().map_err(nccl("making a group"))
}

fn bytes_of(id: &Id) -> [u8; 128] {
    id.internal().map(|byte| byte as u8)
}

fn id_of(bytes: [u8; 128]) -> Id {
    Id::uninit(bytes.map(|byte| byte as std::ffi::c_char))
}

fn nccl(doing: &'static str) -> impl FnOnce(cudarc::nccl::result::NcclError) -> anyhow::Error {
    move |error| anyhow!("{doing} failed: {:?}. NCCL_DEBUG=WARN has it say why", error.0)
}

/// Compares with what is known, and prints.
fn report(found: &Found, ranks: usize, is_json: bool) -> Result<ExitCode> {
    let n = u128::from(ITEMS) - 1;
    let expected = (n * (n + 1) * (2 * n + 1) / 6) as u64;
    let off = found.weights.iter().zip(PLANE).map(|(weight, exact)| (weight - exact).abs()).fold(0.0, f32::max);
    let rate = ITEMS as f64 * f64::from(STEPS) / found.seconds;
    let checks = [
        ("the sum of squares is exact", found.sum == expected),
        ("the error has become the noise's", found.error < 1e-4 && found.error < found.first_error / 1000.0),
        ("the weights are those of the plane", off < 1e-3),
    ];
    let has_failed = checks.iter().any(|(_, passed)| !passed);
    if is_json {
        let checks = checks.map(|(name, passed)| json!({ "name": name, "passed": passed }));
        let result: Value = json!({
            "device": found.device,
            "ranks": ranks,
            "samples_per_second": rate,
            "error": found.error,
            "checks": checks,
        });
        println!("{result}");
    } else {
        println!("{ranks} x {}", found.device);
        for (name, passed) in checks {
            println!("{} {name}", if passed { "ok  " } else { "FAIL" });
        }
        println!("mean squared error {:.6} -> {:.6}, {rate:.3e} samples a second", found.first_error, found.error);
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

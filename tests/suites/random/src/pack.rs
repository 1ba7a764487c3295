//! Packs random programs for a GPU: machine code for two levels, and the digests that the CPU found.
//!
//! The folder has, for each batch of programs, `FIRST.expected` (words of 32 bits, one for each program and thread) and a
//! cubin for each level, `FIRST_oLEVEL.cubin`; `list.json` names them. What is there already is not made again.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ptx_codegen::workarounds;
use ptx_random::choices::Choices;
use ptx_random::inputs::{BLOCK, THREADS, inputs};
use ptx_random::ptx::{self, Kernel};
use ptx_random::rust;
use serde_json::{Value, json};

use crate::compile;

/// Programs that are compiled together.
pub const BATCH: u64 = 100;

/// What to pack.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Where the random numbers begin.
    pub seed: u64,
    /// The first program.
    pub first: u64,
    /// How many.
    pub programs: u64,
    /// How many of them without optimisation too: their code is ten times as large.
    pub unoptimised: u64,
    /// Batches that are compiled at once.
    pub jobs: usize,
}

/// Makes what is missing in the folder.
pub fn pack(plan: Plan, folder: &Path) -> Result<(), String> {
    let batches = in_batches(plan, folder, |programs| batch(plan, programs, folder))?;
    let batches = batches.into_iter().map(|(first, count)| {
        let levels: &[u32] = if levels(plan, first).contains(&0) { &[0, 3] } else { &[3] };
        json!({ "first": first, "programs": count, "levels": levels })
    });
    list(folder, "programs in Rust", plan.seed, (THREADS, BLOCK), batches.collect())
}

/// The same for kernels in PTX, all at both levels.
pub fn pack_ptx(plan: Plan, folder: &Path) -> Result<(), String> {
    let batches = in_batches(plan, folder, |kernels| batch_of_ptx(plan, kernels, folder))?;
    let batches =
        batches.into_iter().map(|(first, count)| json!({ "first": first, "programs": count, "levels": [0, 3] }));
    list(folder, "kernels in PTX", plan.seed, (ptx::THREADS, ptx::BLOCK), batches.collect())
}

fn list(folder: &Path, what: &str, seed: u64, threads: (usize, usize), batches: Vec<Value>) -> Result<(), String> {
    let list = json!({ "what": what, "seed": seed, "threads": threads.0, "block": threads.1, "batches": batches });
    fs::write(folder.join("list.json"), list.to_string()).map_err(|error| error.to_string())
}

/// Makes batches, some at once; returns the first of each and how many they are.
fn in_batches(
    plan: Plan,
    folder: &Path,
    make: impl Fn(&[u64]) -> Result<(), String> + Sync,
) -> Result<Vec<(u64, u64)>, String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let end = plan.first + plan.programs;
    let batches: Vec<(u64, u64)> =
        (plan.first..end).step_by(BATCH as usize).map(|first| (first, BATCH.min(end - first))).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), String> {
        while let Some((first, count)) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            make(&Vec::from_iter(*first..first + count))?;
            eprintln!("seed {}: {first} to {} are there", plan.seed, first + count - 1);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect::<Result<Vec<()>, _>>()
    })?;
    Ok(batches)
}

fn levels(plan: Plan, first: u64) -> Vec<u32> {
    if first < plan.first + plan.unoptimised { vec![3, 0] } else { vec![3] }
}

fn batch(plan: Plan, numbers: &[u64], folder: &Path) -> Result<(), String> {
    let programs: Vec<String> =
        numbers.iter().map(|number| rust::program(&mut Choices::of_item(plan.seed, *number))).collect();
    let work = compile::folder(&format!("pack-{}", plan.seed));
    put(&programs, numbers[0], &levels(plan, numbers[0]), &work, folder)
}

/// Compiles programs and puts them into the folder, as far as they are not there.
fn put(programs: &[String], first: u64, levels: &[u32], work: &Path, folder: &Path) -> Result<(), String> {
    let expected = folder.join(format!("{first}.expected"));
    if !expected.exists() {
        let digests = compile::on_host(programs, work, &format!("p{first}"), 0)?;
        let bytes: Vec<u8> = digests.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(&expected, bytes).map_err(|error| error.to_string())?;
    }
    for level in levels {
        let cubin = folder.join(format!("{first}_o{level}.cubin"));
        if !cubin.exists() {
            let ptx = compile::for_device(programs, work, &format!("p{first}"), *level)?;
            fs::rename(compile::assemble(&ptx, *level)?, &cubin).map_err(|error| error.to_string())?;
            _ = fs::remove_file(ptx);
        }
    }
    Ok(())
}

/// Packs these programs as one batch, into a folder that is emptied before.
pub fn pack_these(programs: &[String], level: u32, folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
    }
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    put(programs, 0, &[level], &compile::folder("these"), folder)?;
    let batch = json!({ "first": 0, "programs": programs.len(), "levels": [level] });
    list(folder, "candidates", 0, (THREADS, BLOCK), vec![batch])
}

fn batch_of_ptx(plan: Plan, numbers: &[u64], folder: &Path) -> Result<(), String> {
    let kernels: Vec<Kernel> =
        numbers.iter().map(|number| Kernel::new(&mut Choices::of_item(plan.seed, *number))).collect();
    put_ptx(&kernels, numbers[0], &compile::folder(&format!("pack-ptx-{}", plan.seed)), folder)
}

/// Packs the parts of a kernel as a list of their own, for a difference to be found by.
pub fn pack_parts(seed: u64, number: u64, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let parts = Kernel::new(&mut Choices::of_item(seed, number)).parts();
    let work = compile::folder(&format!("parts-{seed}-{number}"));
    // ptxas may fail, too.
    let alone = |kernel: &&Kernel| put_ptx(&[(*kernel).clone()], 0, &work, &work.join("alone")).is_ok();
    let parts: Vec<Kernel> = parts
        .iter()
        .filter(|kernel| {
            _ = fs::remove_file(work.join("alone/0.expected"));
            alone(kernel)
        })
        .cloned()
        .collect();
    put_ptx(&parts, 0, &work, folder)?;
    let batch = json!({ "first": 0, "programs": parts.len(), "levels": [0, 3] });
    list(folder, &format!("parts of kernel {number} in PTX"), seed, (ptx::THREADS, ptx::BLOCK), vec![batch])
}

/// Assembles kernels and puts them into the folder, if they are not there.
fn put_ptx(kernels: &[Kernel], first: u64, work: &Path, folder: &Path) -> Result<(), String> {
    let expected = folder.join(format!("{first}.expected"));
    if expected.exists() {
        return Ok(());
    }
    let text = ptx::module(kernels, compile::ARCH);
    // As our linker hands it on.
    let text = workarounds::rewrite(&text, compile::ARCH.parse().expect("an arch"));
    for folder in [work, folder] {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    for level in [0, 3] {
        let source = work.join(format!("{first}_o{level}.ptx"));
        fs::write(&source, &text).map_err(|error| error.to_string())?;
        let cubin = compile::assemble(&source, level)?;
        fs::rename(cubin, folder.join(format!("{first}_o{level}.cubin"))).map_err(|error| error.to_string())?;
    }
    let inputs = inputs(ptx::THREADS);
    let digests = kernels.iter().flat_map(|kernel| inputs.iter().map(|inputs| kernel.compute(inputs)));
    let bytes: Vec<u8> = digests.flat_map(u32::to_le_bytes).collect();
    fs::write(&expected, bytes).map_err(|error| error.to_string())
}

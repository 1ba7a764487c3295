//! Packs random programs for a GPU: machine code for two levels, and the digests that the CPU found.
//!
//! The folder has, for each batch of programs, `FIRST.expected` (words of 32 bits, one for each program and thread) and a
//! cubin for each level, `FIRST_oLEVEL.cubin`; `list.json` names them. What is there already is not made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ptx_random::choices::Choices;
use ptx_random::inputs::{BLOCK, THREADS};
use ptx_random::rust;
use serde_json::json;

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
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let batches: Vec<u64> = (plan.first..plan.first + plan.programs).step_by(BATCH as usize).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), String> {
        while let Some(first) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let end = (first + BATCH).min(plan.first + plan.programs);
            let programs: Vec<u64> = (*first..end).collect();
            batch(plan, &programs, folder)?;
            eprintln!("seed {}: programs {first} to {}", plan.seed, end - 1);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect::<Result<Vec<()>, _>>()
    })?;
    let list: Vec<_> = batches
        .iter()
        .map(|first| {
            let count = BATCH.min(plan.first + plan.programs - first);
            let levels: &[u32] = if levels(plan, *first).contains(&0) { &[0, 3] } else { &[3] };
            json!({ "first": first, "programs": count, "levels": levels })
        })
        .collect();
    let what = "programs in Rust";
    let text = json!({ "what": what, "seed": plan.seed, "threads": THREADS, "block": BLOCK, "batches": list }).to_string();
    fs::write(folder.join("list.json"), text).map_err(|error| error.to_string())
}

fn levels(plan: Plan, first: u64) -> Vec<u32> {
    if first < plan.first + plan.unoptimised { vec![3, 0] } else { vec![3] }
}

fn batch(plan: Plan, numbers: &[u64], folder: &Path) -> Result<(), String> {
    let first = numbers[0];
    let work = compile::folder(&format!("pack-{}", plan.seed));
    let programs: Vec<String> =
        numbers.iter().map(|number| rust::program(&mut Choices::of_item(plan.seed, *number))).collect();
    let put = |from: PathBuf, to: &Path| {
        fs::copy(&from, to).and_then(|_| fs::remove_file(&from)).map_err(|error| format!("{}: {error}", to.display()))
    };
    let expected = folder.join(format!("{first}.expected"));
    if !expected.exists() {
        let digests = compile::on_host(&programs, &work, &format!("p{first}"), 0)?;
        let bytes: Vec<u8> = digests.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(&expected, bytes).map_err(|error| error.to_string())?;
    }
    for level in levels(plan, first) {
        let cubin = folder.join(format!("{first}_o{level}.cubin"));
        if !cubin.exists() {
            let ptx = compile::for_device(&programs, &work, &format!("p{first}"), level)?;
            put(compile::assemble(&ptx, level)?, &cubin)?;
            _ = fs::remove_file(ptx);
        }
    }
    Ok(())
}

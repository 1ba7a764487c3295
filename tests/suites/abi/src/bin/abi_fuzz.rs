//! `cargo xtask abi-fuzz --seed S --count N`: compares that many random signatures; failures are made small and printed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ptx_abi_tests::{compare, compile, generate, round_trip, shrink};

/// Compares what rust-ptx and nvcc make of random signatures.
#[derive(Parser)]
struct Options {
    /// Where the random numbers begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many signatures.
    #[arg(long, default_value_t = 400)]
    count: u32,
    /// For which GPU; nvcc has one compiler for those before sm_100 and another for the others.
    #[arg(long, default_value = "sm_90")]
    arch: String,
    /// How many are compiled together.
    #[arg(long, default_value_t = 200)]
    batch: u32,
    /// How many failures are made small.
    #[arg(long, default_value_t = 3)]
    shrink: u32,
    /// Instead of comparing, build what a GPU runs: the code of both, linked, into this folder.
    #[arg(long)]
    round_trips: Option<PathBuf>,
}

fn main() -> ExitCode {
    ptx_codegen::become_linker_if_asked();
    let options = Options::parse();
    if !compile::has_nvcc() {
        eprintln!("error: nvcc was not found: run `cargo xtask setup`");
        return ExitCode::FAILURE;
    }
    if let Some(folder) = &options.round_trips {
        let all = (0..).map(|index| generate::case(options.seed, index));
        let cases: Vec<_> = all.filter(round_trip::can_run).take(options.count as usize).collect();
        return match round_trip::build(&cases, folder) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let folder = compile::folder(&format!("fuzz-{}", options.seed));
    let mut failed = 0;
    let mut start = 0;
    while start < options.count {
        let end = options.count.min(start + options.batch.max(1));
        let cases: Vec<_> = (start..end).map(|index| generate::case(options.seed, index)).collect();
        for (case, differences) in cases.iter().zip(shrink::judge(&cases, &folder, &options.arch)) {
            if differences.is_empty() {
                continue;
            }
            failed += 1;
            println!("signature {} of seed {}:\n{}", case.id, options.seed, compare::describe(case, &differences));
            if failed <= options.shrink {
                let (smaller, differences) = shrink::smallest(case, differences, &folder.join("shrink"), &options.arch);
                println!("made small:\n{}", compare::describe(&smaller, &differences));
            }
        }
        start = end;
        eprintln!("seed {}: {start} of {} signatures, {failed} failed", options.seed, options.count);
    }
    println!("{} passed, {failed} failed, 0 skipped", options.count - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

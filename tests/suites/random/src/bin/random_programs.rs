//! `random-programs`: shows, checks, packs and shrinks random programs; `cargo xtask random` starts it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ptx_random::choices::Choices;
use ptx_random::ptx::{self, Kernel};
use ptx_random_tests::pack::{self, Plan};
use ptx_random_tests::shrinking::{self, Judge};
use ptx_random_tests::{check, compile};

/// Random programs, each of them a seed and a number.
#[derive(Parser)]
#[command(name = "cargo xtask random")]
struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Prints a program.
    Show {
        /// Where the random numbers begin.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of the program, counted from 0.
        #[arg(long)]
        program: u64,
        /// The kernel in PTX of that number instead.
        #[arg(long)]
        ptx: bool,
    },
    /// Compares what the CPU computes without and with optimisation: a difference is a mistake of the generator or of LLVM.
    Check {
        /// Where the random numbers begin.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The first program.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// How many.
        #[arg(long, default_value_t = 500)]
        programs: u64,
    },
    /// Compiles programs for a GPU into a folder; as `cargo xtask random pack`, into a bundle.
    Pack {
        /// Where the random numbers begin.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The first program.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// How many.
        #[arg(long, default_value_t = 10_000)]
        programs: u64,
        /// How many of them without optimisation too.
        #[arg(long, default_value_t = 1_000)]
        unoptimised: u64,
        /// How many kernels in PTX.
        #[arg(long, default_value_t = 2_000)]
        kernels: u64,
        /// Kernels of the seed whose parts are packed too: it shows which of their instructions make a difference.
        #[arg(long, value_delimiter = ',')]
        parts: Vec<u64>,
        /// Batches that are compiled at once.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// Where what is packed goes; what is there stays.
        #[arg(long)]
        out: PathBuf,
    },
    /// Makes a program small that fails on this machine's GPU, and prints it.
    Shrink {
        /// Where the random numbers begin.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of the program, counted from 0.
        #[arg(long)]
        program: u64,
        /// The level at which it fails.
        #[arg(long, default_value_t = 3)]
        level: u32,
        /// What runs a folder of packed programs on a GPU: `ptx-random-device`, or a script that starts it elsewhere.
        #[arg(long)]
        runner: PathBuf,
        /// The most rounds.
        #[arg(long, default_value_t = 60)]
        rounds: usize,
    },
}

fn main() -> ExitCode {
    ptx_project::linker::become_linker_if_asked();
    match run(Options::parse().verb) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<bool, String> {
    match verb {
        Verb::Show { seed, program, ptx: false } => {
            print!("{}", shrinking::text(&shrinking::choices(seed, program)));
        }
        Verb::Show { seed, program, ptx: true } => {
            let kernel = Kernel::new(&mut Choices::of_item(seed, program));
            print!("{}", ptx::module(&[kernel], compile::ARCH));
        }
        Verb::Check { seed, first, programs } => {
            let different = check::host(seed, first, programs)?;
            for program in &different {
                println!("seed {seed} program {program} differs");
            }
            println!("{} passed, {} failed, 0 skipped", programs - different.len() as u64, different.len());
            return Ok(different.is_empty());
        }
        Verb::Pack { seed, first, programs, unoptimised, kernels, parts, jobs, out } => {
            let plan = Plan { seed, first, programs, unoptimised, jobs };
            if programs > 0 {
                pack::pack(plan, &out.join("rust"))?;
            }
            if kernels > 0 {
                pack::pack_ptx(Plan { programs: kernels, ..plan }, &out.join("ptx"))?;
            }
            for kernel in parts {
                pack::pack_parts(seed, kernel, &out.join(format!("parts-{kernel}")))?;
            }
        }
        Verb::Shrink { seed, program, level, runner, rounds } => {
            let (judge, folder) = (Judge::Gpu(runner, level), compile::folder("shrink"));
            let start = shrinking::choices(seed, program);
            if judge.fails(&[shrinking::text(&start)], &folder)? != [true] {
                return Err("the program does not fail".into());
            }
            let small = shrinking::smallest(&start, &judge, rounds, &folder)?;
            print!("{}", shrinking::text(&small));
        }
    }
    Ok(true)
}

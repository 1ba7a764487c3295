//! `random-programs`: writes, packs and shrinks random programs; `cargo xtask random` starts it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use ptx_random::choices::Choices;
use ptx_random::rust;
use ptx_random_tests::compile;
use ptx_random_tests::pack::{self, Plan};

/// Writes, packs and shrinks random programs.
#[derive(Parser)]
enum Verb {
    /// Prints programs.
    Show { seed: u64, program: u64 },
    /// Compiles programs for a GPU into a folder.
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
        /// Batches that are compiled at once.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// The folder.
        #[arg(long)]
        out: PathBuf,
    },
    /// Compares what the CPU computes without and with optimisation.
    Check { seed: u64, first: u64, count: u64 },
    /// Tries.
    Try { seed: u64, first: u64, count: u64 },
}

fn main() -> ExitCode {
    ptx_project::linker::become_linker_if_asked();
    match Verb::parse() {
        Verb::Show { seed, program } => print!("{}", rust::program(&mut Choices::of_item(seed, program))),
        Verb::Pack { seed, first, programs, unoptimised, kernels, jobs, out } => {
            let plan = Plan { seed, first, programs, unoptimised, jobs };
            let packed = match programs {
                0 => Ok(()),
                _ => pack::pack(plan, &out.join("rust")),
            };
            let packed = packed.and_then(|()| match kernels {
                0 => Ok(()),
                _ => pack::pack_ptx(Plan { programs: kernels, ..plan }, &out.join("ptx")),
            });
            if let Err(error) = packed {
                eprintln!("error: {error:.3000}");
                return ExitCode::FAILURE;
            }
        }
        Verb::Check { seed, first, count } => {
            for first in (first..first + count).step_by(50) {
                let programs: Vec<String> = (first..first+50).map(|i| rust::program(&mut Choices::of_item(seed, i))).collect();
                let folder = compile::folder("check");
                let a = compile::on_host(&programs, &folder, &format!("h0_{first}"), 0);
                let b = compile::on_host(&programs, &folder, &format!("h3_{first}"), 3);
                match (a, b) { (Ok(a), Ok(b)) => for (i, (a, b)) in a.iter().zip(&b).enumerate() { if a != b { println!("program {} differs", first + i as u64) } }, (a, b) => println!("{:.6000} {:.600}", a.err().unwrap_or_default(), b.err().unwrap_or_default()) }
            }
        }
        Verb::Try { seed, first, count } => {
            let programs: Vec<String> = (first..first+count).map(|i| rust::program(&mut Choices::of_item(seed, i))).collect();
            let folder = compile::folder("try");
            let t = Instant::now();
            let a = compile::on_host(&programs, &folder, "h0", 0);
            eprintln!("host O0 {:?}", t.elapsed());
            let t = Instant::now();
            let b = compile::on_host(&programs, &folder, "h3", 3);
            eprintln!("host O3 {:?}", t.elapsed());
            match (a, b) { (Ok(a), Ok(b)) => for (i, (a, b)) in a.iter().zip(&b).enumerate() { if a != b { println!("program {} differs", first + i as u64) } }, (a, b) => println!("{:.6000} {:.600}", a.err().unwrap_or_default(), b.err().unwrap_or_default()) }
            for level in [0, 3] {
                let t = Instant::now();
                let r = compile::for_device(&programs, &folder, "d", level);
                eprintln!("device O{level} {:?} {:.3000?}", t.elapsed(), r);
                let t = Instant::now();
                let Ok(r) = r else { continue };
                let r = compile::assemble(&r, level);
                eprintln!("ptxas O{level} {:?} {:.3000?}", t.elapsed(), r);
            }
        }
    }
    ExitCode::SUCCESS
}

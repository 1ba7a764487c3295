//! `cargo xtask bench`: what is measured, a benchmark a file. Tests measure no time; this does.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::setup;

mod chart;
mod code;
mod first;
mod guard;
mod kernels;
mod page;
mod program;

/// What can be measured, and what is made of it.
#[derive(clap::Subcommand)]
pub enum Benchmark {
    /// The device build of the benchmark's kernels, as ratios to nvcc on their twins, and where its time goes.
    Build,
    /// Time and memory of compiling, as ratios to nvcc.
    Compile,
    /// How long a new user waits, from a fresh clone and an empty cache: for the first kernel, a first and a second package.
    First,
    /// The speed of kernels in Rust beside the same in CUDA C++; needs a GPU, unless an option says otherwise.
    Kernels(kernels::Request),
    /// What a launch costs the host, typed and prepared, beside a bare loop of `cuLaunchKernel`; needs a GPU.
    Launches,
    /// Compares registers, stack and instructions of the same kernels with the record, for every guarded arch; needs no GPU.
    Guard {
        /// Write the record instead. A reason is needed if something has become worse, and is kept in the record.
        #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "")]
        accept: Option<String>,
    },
    /// Writes the book's page of speed, and its chart, from the record of `bench kernels`.
    Page {
        /// The file that `bench kernels` wrote.
        record: PathBuf,
    },
}

/// Measures or writes.
pub fn run(what: &Benchmark) -> Result<ExitCode> {
    match what {
        Benchmark::Build => measured("build"),
        Benchmark::Compile => measured("compile"),
        Benchmark::First => first::run(),
        Benchmark::Kernels(request) => kernels::run(request),
        Benchmark::Launches => kernels::launches(),
        Benchmark::Guard { accept } => guard::run(accept.as_deref()),
        Benchmark::Page { record } => page::run(record).map(|()| ExitCode::SUCCESS),
    }
}

fn measured(what: &str) -> Result<ExitCode> {
    setup::run()?;
    Ok(if program::program().arg(what).status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

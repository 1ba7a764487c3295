//! Launches every kernel of the benchmark in Rust, in CUDA C++, and in Rust with other ways to panic, compares the results and
//! measures; needs a GPU.
//!
//! Each kernel is measured in a process of its own, which is this program with `--only`, so that a kernel that fails costs
//! the others nothing. The record, `--json FILE`, is written again after each kernel.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use ptx_bench_table::{Row, fits, rows};

mod arguments;
mod ceilings;
mod gpu;
mod graphs;
mod launches;
mod measure;
mod overlap;
mod program;
mod session;

/// Measures the kernels in Rust and in CUDA C++.
#[derive(Parser)]
struct Options {
    /// Measure this kernel alone, in this process, and print one line of JSON.
    #[arg(long)]
    only: Option<String>,
    /// Measure what the device can do at most, in this process, and print one line of JSON.
    #[arg(long)]
    ceilings: bool,
    /// Measure what a launch and a start of a graph cost the host, and copies beside kernels, in this process, and print one
    /// line of JSON.
    #[arg(long)]
    launches: bool,
    /// Compare the table with the kernels' signatures; needs no GPU.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    session: session::Options,
}

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        // Without a backtrace: the session shows this beside the kernel's name.
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options) -> Result<ExitCode> {
    if options.check {
        return check();
    }
    if options.ceilings {
        println!("{}", ceilings::measure()?);
        return Ok(ExitCode::SUCCESS);
    }
    if options.launches {
        println!("{}", launches::measure()?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &options.only {
        println!("{}", measure::measure(&row(name)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    session::run(&options.session)
}

fn row(name: &str) -> Result<Row> {
    rows().into_iter().find(|row| row.name == name).with_context(|| format!("the table has no kernel `{name}`"))
}

/// Every row fits its kernel, and every kernel has a row.
fn check() -> Result<ExitCode> {
    let rows = rows();
    let mut faults = Vec::new();
    for row in &rows {
        match gpu::RUST.kernel(row.name) {
            None => faults.push(format!("{}: there is no such kernel", row.name)),
            Some(kernel) => {
                faults.extend(fits(row, kernel.signature).err().map(|fault| format!("{}: {fault}", row.name)))
            }
        }
    }
    let without = gpu::RUST.kernels().iter().filter(|kernel| !rows.iter().any(|row| row.name == kernel.name));
    faults.extend(without.map(|kernel| format!("{}: the table lacks it", kernel.name)));
    faults.iter().for_each(|fault| eprintln!("error: {fault}"));
    ensure!(faults.is_empty(), "{} of {} rows do not fit", faults.len(), rows.len());
    println!("{} rows fit their kernels", rows.len());
    Ok(ExitCode::SUCCESS)
}

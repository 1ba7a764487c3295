//! What `cargo xtask bench` measures with the compiler's own crates: apart from xtask, so that tidy and the like need no compiler.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

mod code;
mod compile;
mod device;

/// What to measure; `cargo xtask` has set the machine up.
#[derive(Parser)]
#[command(name = "xtask-measure")]
enum Verb {
    /// The device build of the benchmark's kernels, as ratios to nvcc on their twins.
    Build,
    /// Time and memory of compiling, as ratios to nvcc.
    Compile,
    /// The kernels' code in Rust and in CUDA C++: prints JSON.
    Code {
        /// GPU architectures.
        #[arg(long, value_delimiter = ',')]
        arch: Vec<String>,
        /// Where what is compiled goes.
        #[arg(long)]
        folder: PathBuf,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let verb = Verb::parse();
    xtask::shell::enter_root()?;
    match verb {
        Verb::Build => device::run(),
        Verb::Compile => compile::run(),
        Verb::Code { arch, folder } => {
            println!("{}", code::read(&arch, &folder)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

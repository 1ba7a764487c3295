//! `cargo xtask`: everything that is done to this repository, one verb a file.

use std::process::ExitCode;

use clap::Parser;
use xtask::shell;

mod abi;
mod accuracy;
mod bench;
mod bless;
mod book;
mod bundle;
mod cases;
mod ci;
mod core;
mod counts;
mod curand;
mod debugger;
mod examples;
mod messages;
mod ptx_diff;
mod random;
mod reference;
mod sanitizer;
mod semver;
mod setup;
mod test;
mod tidy;

/// Sets the machine up, runs the tests, checks the sources.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Verb {
    /// Installs what the tests need: the device sysroot and NVIDIA's tools. Does nothing where they are there.
    Setup {
        /// Only the device sysroot.
        #[arg(long)]
        sysroot_only: bool,
    },
    /// Runs the test suites and prints `N passed, N failed, N skipped` last.
    Test(test::Request),
    /// Compares what rust-ptx and nvcc make of random signatures, and prints failures made small.
    AbiFuzz {
        /// Where the random numbers begin.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many signatures.
        #[arg(long, default_value_t = 400)]
        count: u32,
    },
    /// Random programs: shows, checks, shrinks and packs them; `cargo xtask random help` lists the verbs.
    Random {
        /// What to do.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Writes the messages that the user-interface tests expect.
    Bless {
        /// Only cases whose path contains this.
        filter: Option<String>,
    },
    /// Packs every device test and example so that they run on a machine with nothing but NVIDIA's driver.
    DeviceBundle {
        /// Rust's `library` folder, whose tests of `core` are packed, too; that of rust-src by default, if it is there.
        #[arg(long, value_name = "FOLDER")]
        library: Option<std::path::PathBuf>,
    },
    /// Compiles CURAND's functions for the host, and writes what they give: what random numbers are compared with.
    Curand,
    /// Writes the book's table of measured errors from records of device runs.
    Accuracy {
        /// The records, from the one that counts most; the latest in tests/suites/device/results by default.
        records: Vec<std::path::PathBuf>,
    },
    /// Measures.
    Bench {
        /// Which benchmark to run.
        #[command(subcommand)]
        what: bench::Benchmark,
    },
    /// Compares the PTX of every example and test kernel with what the compiler of a commit makes of the same bitcode.
    PtxDiff {
        /// What to compare the working tree with: a commit, by any name that git knows.
        base: String,
    },
    /// Says whether the published crates keep what they offered, or need another version, by cargo-semver-checks.
    Semver {
        /// What to compare with: a commit; by default the last release's, in `[workspace.metadata.semver]` of Cargo.toml.
        baseline: Option<String>,
    },
    /// Checks the rules that the sources obey.
    Tidy {
        /// Which ones, by the names that it prints; all by default.
        rules: Vec<String>,
    },
    /// Builds the book into target/book and checks its links.
    Book,
    /// Everything that a change must pass: formatting, tidy, clippy, the book, the tests, and every case of some suites in turn.
    Ci,
}

fn main() -> anyhow::Result<ExitCode> {
    if let Some(ended) = ptx_diff::act_if_asked() {
        return ended;
    }
    let verb = Verb::parse();
    shell::enter_root()?;
    match verb {
        Verb::Setup { sysroot_only: true } => setup::sysroot().map(|()| ExitCode::SUCCESS),
        Verb::Setup { .. } => setup::run().map(|()| ExitCode::SUCCESS),
        Verb::Test(request) => test::run(&request),
        Verb::AbiFuzz { seed, count } => abi::fuzz(seed, count),
        Verb::Random { arguments } => random::run(&arguments),
        Verb::Bless { filter } => bless::run(filter.as_deref()),
        Verb::DeviceBundle { library } => bundle::run(library.as_deref()).map(|()| ExitCode::SUCCESS),
        Verb::Curand => curand::run().map(|()| ExitCode::SUCCESS),
        Verb::Accuracy { records } => accuracy::run(&records).map(|()| ExitCode::SUCCESS),
        Verb::Bench { what } => bench::run(&what),
        Verb::PtxDiff { base } => ptx_diff::run(&base),
        Verb::Semver { baseline } => semver::run(baseline),
        Verb::Book => book::run().map(|()| ExitCode::SUCCESS),
        Verb::Tidy { rules } => tidy::run(&rules),
        Verb::Ci => ci::run(),
    }
}

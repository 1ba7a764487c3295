//! `cargo xtask test [SUITE]…`: runs the suites and adds up what their runners report.

use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::ValueEnum;

use crate::counts::Counts;
use crate::{abi, cases, examples, reference, sanitizer, setup, shell};

/// A group of tests with one runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Unit tests and documentation tests of every library.
    Unit,
    /// What a user sees: messages, and PTX from source.
    Ui,
    /// The linker on bad input.
    BadInput,
    /// Layouts and the C++ header against g++ and nvcc.
    Layout,
    /// Rust linked with CUDA C++, both ways.
    Link,
    /// Random signatures of device functions and kernels, against nvcc.
    Abi,
    /// The PTX of kernels against ptxas and nvcc.
    Pipeline,
    /// Debug information against a verifier and nvcc's.
    Debug,
    /// Floating-point modes: instructions against nvcc's.
    Float,
    /// `cargo ptx new`, and what is rebuilt when.
    Project,
    /// Every example, as a user runs it.
    Examples,
    /// The runtime's unsafe code on the host, under AddressSanitizer and Miri.
    Sanitizer,
    /// Kernels on a GPU, against the CPU.
    Device,
}

impl Suite {
    fn run(self) -> Result<Counts> {
        let test = |args: &[&str]| {
            let mut command = shell::cargo();
            command.args(["test", "--no-fail-fast"]).args(args);
            runner(&mut command)
        };
        match self {
            Self::Unit => {
                let mut command = shell::cargo();
                command.args(["test", "--no-fail-fast", "--workspace"]);
                for package in RUNNERS {
                    command.args(["--exclude", package]);
                }
                let without = reference::add_features(&mut command, &["ptx-float-reference"]);
                let mut counts = runner(&mut command)?;
                counts += without.map(Counts::skip).unwrap_or_default();
                Ok(counts)
            }
            Self::Ui => test(&["--package", "ui-tests"]),
            Self::BadInput => test(&["--package", "ptx-tests", "--test", "bad_input"]),
            Self::Layout => test(&["--package", "ptx-tests", "--test", "layout"]),
            Self::Link => test(&["--package", "ptx-tests", "--test", "link"]),
            Self::Abi => test(&["--package", "ptx-abi-tests"]),
            Self::Pipeline => test(&["--package", "ptx-tests", "--test", "pipeline"]),
            Self::Debug => test(&["--package", "ptx-tests", "--test", "debug"]),
            Self::Float => test(&["--package", "ptx-tests", "--test", "float"]),
            Self::Project => test(&["--package", "ptx-tests", "--test", "project"]),
            Self::Examples => examples::run(),
            Self::Sanitizer => sanitizer::run(),
            Self::Device => {
                let mut command = shell::cargo();
                command.args(["run", "--release", "--package", "ptx-device-tests"]);
                if let Some(reason) = reference::add_features(&mut command, &["ptx-device-tests"]) {
                    println!("{reason}");
                }
                if abi::can_run() {
                    let folder = shell::target_dir()?.join("abi/device");
                    abi::round_trips(&folder)?;
                    command.arg("--").arg("--abi").arg(folder).arg("--cases").arg(cases::build()?);
                }
                runner(&mut command)
            }
        }
    }
}

/// Packages that are suites of their own.
const RUNNERS: [&str; 4] = ["ui-tests", "ptx-tests", "ptx-abi-tests", "ptx-device-tests"];

/// Runs one runner and reads its summary.
fn runner(command: &mut Command) -> Result<Counts> {
    let (status, text) = shell::tee(command.env("CARGO_TERM_COLOR", "never"))?;
    Ok(Counts::from_output(&text, status.success()))
}

/// Runs the suites (all if none is named) after setting the machine up.
pub fn run(suites: &[Suite]) -> Result<ExitCode> {
    let suites = if suites.is_empty() { Suite::value_variants() } else { suites };
    setup::run()?;
    let mut total = Counts::default();
    let mut table = String::new();
    for suite in suites {
        let name = suite.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
        println!("\n== {name}");
        let counts = suite.run().unwrap_or_else(|error| {
            println!("{name}: {error:#}");
            Counts::fail()
        });
        table += &format!("  {name:10} {counts}\n");
        total += counts;
    }
    println!();
    total.reasons.dedup();
    for reason in &total.reasons {
        println!("skipped: {reason}");
    }
    print!("{table}");
    println!("{total}");
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

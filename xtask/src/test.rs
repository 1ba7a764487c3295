//! `cargo xtask test [SUITE]… [--all] [--seed N] [-- FILTER]`: runs the suites and adds up what their runners report.
//!
//! No package is named to cargo, so that it takes the workspace's default members with one set of features for all suites:
//! `--package` would compile the compiler anew for many of them.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::bundle::ARCH;
use crate::counts::Counts;
use crate::{abi, cases, core, examples, reference, sanitizer, setup, shell};

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
    /// Registers, stack and instructions of the benchmark's kernels, against a record.
    Guard,
    /// Debug information against a verifier and nvcc's.
    DebugInfo,
    /// Floating-point modes: instructions against nvcc's.
    Float,
    /// `cargo ptx new`, and what is rebuilt when.
    Project,
    /// Every example, as a user runs it.
    Examples,
    /// What the device tests compare floating point with, itself; builds MPFR.
    Reference,
    /// Random programs: that they have one meaning and compile, and that failures are made small.
    Random,
    /// The runtime's unsafe code on the host, under AddressSanitizer and Miri.
    Sanitizer,
    /// The tests of Rust's own `core`, compiled for GPUs.
    Core,
    /// Kernels on a GPU, against the CPU.
    Device,
}

/// Suites that take minutes before their first test. They run by name, with `--all`, and in their turn in CI; `core` needs
/// sources that few machines have, and has no turn.
const LONG: [Suite; 4] = [Suite::Reference, Suite::Random, Suite::Sanitizer, Suite::Core];

/// Groups of suites that take about as long as each other with `--all`; `cargo xtask ci` runs one of them.
pub const PARTS: [&[Suite]; 5] = [
    &[Suite::Pipeline],
    &[Suite::DebugInfo, Suite::BadInput, Suite::Random],
    &[Suite::Float, Suite::Reference, Suite::Layout],
    &[Suite::Abi, Suite::Link, Suite::Sanitizer],
    &[Suite::Ui, Suite::Project, Suite::Unit, Suite::Guard],
];

/// Tells the runners which cases to take: `all`, or a seed (`tests/support/harness/src/sample.rs`).
const SAMPLE: &str = "PTX_TEST_SAMPLE";

/// The runners of suites; other integration tests are in `unit`.
const RUNNERS: [&str; 11] =
    ["abi", "bad_input", "debug_info", "float", "guard", "layout", "link", "pipeline", "project", "random", "ui"];

/// What to run.
#[derive(Args, Clone, Debug, Default)]
pub struct Request {
    /// Which suites; every one by default.
    #[arg(value_enum)]
    pub suites: Vec<Suite>,
    /// Runs every case, and the suites that take long; by default a seed chooses a part of the cases.
    #[arg(long)]
    pub all: bool,
    /// Chooses another part.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub seed: Option<u64>,
    /// For the suite `core`: Rust's `library` folder; that of rust-src by default.
    #[arg(long, value_name = "FOLDER")]
    pub library: Option<PathBuf>,
    /// Only cases whose names contain this, also those that the seed leaves out; with `--exact` the one of this name.
    #[arg(last = true, value_name = "FILTER")]
    pub filter: Vec<String>,
}

impl Request {
    fn suites(&self) -> Vec<Suite> {
        let every = Suite::value_variants().iter().copied().filter(|suite| self.all || !LONG.contains(suite));
        if self.suites.is_empty() { every.collect() } else { self.suites.clone() }
    }

    /// What runs this case alone.
    fn alone(&self, suite: Suite, case: &str) -> String {
        let seed = self.seed.map(|seed| format!(" --seed {seed}")).unwrap_or_default();
        // Names of files are whole as they are; ui_test adds revisions and steps to them.
        let (case, exact) = match case.split_once(".rs") {
            Some((file, _)) if suite == Suite::Ui => (format!("{file}.rs"), ""),
            _ => (case.to_string(), " --exact"),
        };
        format!("cargo xtask test {}{seed} --{exact} '{}'", suite.name(), case.replace('\'', r"'\''"))
    }
}

impl Suite {
    /// As it is written on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }

    fn run(self, request: &Request) -> Result<Counts> {
        let test = |target: &str| runner(request, shell::cargo().args(["test", "--no-fail-fast", "--test", target]));
        match self {
            Self::Unit => unit(request),
            Self::Ui => test("ui"),
            Self::BadInput => test("bad_input"),
            Self::Layout => test("layout"),
            Self::Link => test("link"),
            Self::Abi => test("abi"),
            Self::Pipeline => test("pipeline"),
            Self::Guard => test("guard"),
            Self::DebugInfo => test("debug_info"),
            Self::Float => test("float"),
            Self::Project => test("project"),
            Self::Examples => examples::run(&request.filter),
            Self::Reference => {
                let mut command = shell::cargo();
                command.args(["test", "--no-fail-fast", "--package", "ptx-float-reference", "--lib"]);
                match reference::add_features(&mut command, &["ptx-float-reference"]) {
                    Some(reason) => Ok(Counts::skip(reason)),
                    None => runner(request, &mut command),
                }
            }
            Self::Random => test("random"),
            Self::Sanitizer => sanitizer::run(),
            Self::Core => core::run(request.library.as_deref(), ARCH, &request.filter),
            Self::Device => device(request),
        }
    }
}

/// Libraries, programs and their own integration tests; then the examples in their documentation.
fn unit(request: &Request) -> Result<Counts> {
    let mut tests = shell::cargo();
    tests.args(["test", "--no-fail-fast", "--lib", "--bins"]);
    for target in shell::default_tests()?.iter().filter(|target| !RUNNERS.contains(&target.as_str())) {
        tests.args(["--test", target]);
    }
    let mut counts = runner(request, &mut tests)?;
    counts += runner(request, shell::cargo().args(["test", "--no-fail-fast", "--doc"]))?;
    if request.all {
        // What is `#[ignore]`d because it takes long.
        let mut slow = shell::cargo();
        slow.args(["test", "--no-fail-fast", "--test", "cpu_block", "--", "--ignored"]).args(&request.filter);
        counts += listen(&mut slow)?;
    }
    Ok(counts)
}

/// The kernels take minutes to compile, in vain where there is no GPU.
fn device(request: &Request) -> Result<Counts> {
    if !abi::can_run() {
        return Ok(Counts::skip("device tests: no NVIDIA driver on this machine; `cargo xtask device-bundle`".into()));
    }
    let mut command = shell::cargo();
    command.args(["run", "--release", "--package", "ptx-device-tests"]);
    if let Some(reason) = reference::add_features(&mut command, &["ptx-device-tests"]) {
        println!("{reason}");
    }
    let folder = shell::target_dir()?.join("abi/device");
    abi::round_trips(&folder)?;
    command.arg("--").arg("--abi").arg(folder).arg("--cases").arg(cases::build()?).args(&request.filter);
    listen(&mut command)
}

/// Runs one runner with the request's filter, and reads its summary.
fn runner(request: &Request, command: &mut Command) -> Result<Counts> {
    let sample = if request.all { "all".to_string() } else { request.seed.unwrap_or(1).to_string() };
    command.env(SAMPLE, sample).arg("--").args(&request.filter);
    listen(command)
}

fn listen(command: &mut Command) -> Result<Counts> {
    let (status, text) = shell::tee(command.env("CARGO_TERM_COLOR", "never"))?;
    Ok(Counts::from_output(&text, status.success()))
}

/// Runs the suites after setting the machine up.
pub fn run(request: &Request) -> Result<ExitCode> {
    setup::run()?;
    let total = counts(request);
    println!("{total}");
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the suites and prints a table of them, with what was left out and what failed.
pub fn counts(request: &Request) -> Counts {
    let mut total = Counts::default();
    let (mut table, mut failures) = (String::new(), String::new());
    for suite in request.suites() {
        let name = suite.name();
        println!("\n== {name}");
        let begin = Instant::now();
        let counts = suite.run(request).unwrap_or_else(|error| {
            println!("{name}: {error:#}");
            Counts::fail()
        });
        table += &format!("  {name:10} {:>4} s   {counts}\n", begin.elapsed().as_secs());
        for case in &counts.failures {
            failures += &format!("failed: {case}\n  alone: {}\n", request.alone(suite, case));
        }
        total += counts;
    }
    println!();
    total.reasons.dedup();
    for reason in &total.reasons {
        println!("skipped: {reason}");
    }
    for remark in &total.remarks {
        println!("remark: {remark}");
    }
    for part in &total.sampled {
        println!("sampled: {part}; `cargo xtask test --all` runs all");
    }
    print!("{table}{failures}");
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_case_has_a_command() {
        let request = Request { seed: Some(7), ..Request::default() };
        assert_eq!(
            request.alone(Suite::BadInput, "it's bad"),
            r"cargo xtask test bad-input --seed 7 -- --exact 'it'\''s bad'"
        );
        let request = Request::default();
        assert_eq!(
            request.alone(Suite::Ui, "cases/fail/a.rs (revision b) ptxas"),
            "cargo xtask test ui -- 'cases/fail/a.rs'"
        );
    }

    #[test]
    fn every_suite_that_leaves_something_out_has_its_turn() {
        let by_itself = [Suite::Examples, Suite::Core, Suite::Device];
        for suite in Suite::value_variants().iter().filter(|suite| !by_itself.contains(suite)) {
            assert_eq!(PARTS.iter().filter(|part| part.contains(suite)).count(), 1, "{suite:?}");
        }
        assert!(!Request::default().suites().contains(&Suite::Reference));
        assert!(Request { all: true, ..Request::default() }.suites().contains(&Suite::Reference));
    }
}

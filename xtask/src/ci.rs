//! `cargo xtask ci`: everything that a change must pass.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Result;

use crate::counts::Counts;
use crate::test::{PARTS, Request, Suite};
use crate::{reference, setup, shell, test, tidy};

/// The tests for a GPU, and what judges their floating point.
const DEVICE: &str = "ptx-device-tests";
const REFERENCE: &str = "ptx-float-reference";

/// Packages whose build scripts compile kernels, or that have 80 dependencies, which takes minutes: clippy sees them in their turn.
const WITH_KERNELS: [&str; 12] = [
    DEVICE,
    "ptx-bench",
    "ptx-crate-kernels",
    "algorithms",
    "call",
    "crates",
    "data-parallel",
    "float-paper",
    "mandelbrot",
    "saxpy",
    "shared",
    "texture-filter",
];

/// The crates whose documentation users build with their own.
const DOCUMENTED: [&str; 4] = ["ptx", "ptx-build", "ptx-device", "ptx-host"];

/// GiB that a run takes which finds nothing built.
const COLD: u64 = 8;

/// What is quick first: formatting, tidy, clippy, the crates' documentation and the book, each of which counts as tests;
/// then the README's test command; then every case of some suites, in turn.
pub fn run() -> Result<ExitCode> {
    if let Some(free) = free_on_disk() {
        let also = if free < COLD { ": where the disk is full, every test that compiles fails" } else { "" };
        println!("{free} GiB of the disk are free; a run in a fresh clone takes {COLD}{also}");
    }
    let mut counts = one("formatting", shell::cargo().args(["fmt", "--all", "--check"]));
    counts += tidy::counts()?;
    let quick: Vec<&str> = WITH_KERNELS.iter().flat_map(|package| ["--exclude", package]).collect();
    counts += clippy("clippy", &[&["--workspace"], &quick[..]].concat(), None);
    let documented = DOCUMENTED.iter().flat_map(|package| ["--package", package]);
    let mut document = shell::cargo();
    document.args(["doc", "--no-deps", "--quiet"]).args(documented).env("RUSTDOCFLAGS", "--deny warnings");
    counts += one("documents", &mut document);
    counts += one("book", shell::cargo().args(["xtask", "book"]));
    setup::run()?;
    counts += test::counts(&Request::default());
    let part = turn() % PARTS.len();
    println!("\n== part {} of {} of the whole, by the number of commits", part + 1, PARTS.len());
    counts += test::counts(&Request { suites: PARTS[part].to_vec(), all: true, ..Request::default() });
    if PARTS[part].contains(&Suite::Reference) {
        // This part has MPFR, which some of them need.
        let slow: Vec<&str> =
            [REFERENCE].iter().chain(&WITH_KERNELS).flat_map(|package| ["--package", package]).collect();
        counts += clippy("clippy of what compiles kernels", &slow, Some(&[DEVICE, REFERENCE]));
    }
    println!("{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The disk's room for the build folder, in GiB, if `df` says it.
fn free_on_disk() -> Option<u64> {
    let told = shell::output(Command::new("df").args(["-Pk", "."])).ok()?;
    let blocks: u64 = told.lines().last()?.split_whitespace().nth(3)?.parse().ok()?;
    Some(blocks >> 20)
}

/// How many commits there are. A shallow clone does not know: there the commit's own number decides.
fn turn() -> usize {
    let git = |args: &[&str]| shell::output(Command::new("git").args(args)).unwrap_or_default().trim().to_string();
    if git(&["rev-parse", "--is-shallow-repository"]) == "false" {
        return git(&["rev-list", "--count", "HEAD"]).parse().unwrap_or(0);
    }
    let commit = git(&["rev-parse", "HEAD"]);
    usize::from_str_radix(commit.get(..8).unwrap_or_default(), 16).unwrap_or(0)
}

/// Clippy on these packages, with MPFR where they have that feature.
fn clippy(name: &str, packages: &[&str], with_mpfr: Option<&[&str]>) -> Counts {
    let mut command = shell::cargo();
    command.args(["clippy", "--all-targets", "--quiet"]).args(packages);
    if let Some(reason) = with_mpfr.and_then(|packages| reference::add_features(&mut command, packages)) {
        println!("clippy does not see what needs MPFR: {reason}");
    }
    one(name, command.args(["--", "--deny", "warnings"]))
}

fn one(name: &str, command: &mut Command) -> Counts {
    println!("\n== {name}");
    let begin = Instant::now();
    let result = shell::run(command);
    let seconds = begin.elapsed().as_secs();
    match &result {
        Ok(()) => println!("  {name:10} {seconds:>4} s   ok"),
        Err(error) => println!("  {name:10} {seconds:>4} s   {error:#}"),
    }
    if result.is_ok() { Counts::pass() } else { Counts::fail() }
}

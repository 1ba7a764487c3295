//! `cargo xtask ci`: everything that a change must pass.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Result;

use crate::counts::Counts;
use crate::test::{PARTS, Request};
use crate::{setup, shell, test, tidy};

/// What takes seconds first: formatting, tidy and clippy, each of which counts as tests; then the README's test command; then
/// every case of some suites, in turn.
pub fn run() -> Result<ExitCode> {
    let mut counts = one("formatting", shell::cargo().args(["fmt", "--all", "--check"]));
    counts += tidy::counts()?;
    counts += one("clippy", shell::cargo().args(["clippy", "--all-targets", "--quiet", "--", "--deny", "warnings"]));
    setup::run()?;
    counts += test::counts(&Request::default());
    let part = turn() % PARTS.len();
    println!("\n== part {} of {} of the whole, by the number of commits", part + 1, PARTS.len());
    counts += test::counts(&Request { suites: PARTS[part].to_vec(), all: true, ..Request::default() });
    println!("{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

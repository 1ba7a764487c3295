//! `cargo xtask ci`: everything that a change must pass.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::counts::Counts;
use crate::{reference, shell, tidy};

/// The README's test command, then formatting, clippy, tidy and the book, each of which counts as one test.
pub fn run() -> Result<ExitCode> {
    let (status, text) = shell::tee(shell::cargo().args(["xtask", "test"]))?;
    let mut counts = Counts::from_total(&text, status.success());
    counts += one("formatting", shell::cargo().args(["fmt", "--all", "--check"]));
    let mut clippy = shell::cargo();
    clippy.args(["clippy", "--workspace", "--all-targets", "--quiet"]);
    if let Some(reason) = reference::add_features(&mut clippy, &["ptx-device-tests", "ptx-float-reference"]) {
        println!("clippy does not see what needs MPFR: {reason}");
    }
    counts += one("clippy", clippy.args(["--", "--deny", "warnings"]));
    counts += tidy::counts()?;
    counts += one("book", shell::cargo().args(["xtask", "book"]));
    println!("{counts}");
    Ok(if counts.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one(name: &str, command: &mut Command) -> Counts {
    println!("\n== {name}");
    let result = shell::run(command);
    match &result {
        Ok(()) => println!("  {name:10} ok"),
        Err(error) => println!("  {name:10} {error:#}"),
    }
    if result.is_ok() { Counts::pass() } else { Counts::fail() }
}

//! `cargo xtask bench first`: how long a new user waits: for the first kernel of a fresh clone, and for packages of one's own.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::shell;

/// What would have cargo look elsewhere than a new user's does.
const VARIABLES: [&str; 8] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_INCREMENTAL",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "RUST_PTX_COMPILER",
    "RUST_PTX_SYSROOT",
    "CUDA_HOME",
];

/// Clones the last commit into an empty folder and measures there, with an empty cache. Crates are downloaded before.
pub fn run() -> Result<ExitCode> {
    let root = std::env::current_dir()?;
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path();
    let clone = folder.join("rust-ptx");
    let installed = command("cargo-ptx", folder, folder, &[]).arg("--version").output();
    ensure!(installed.is_err(), "`cargo-ptx` is on PATH, and would be used where a new user has none");
    shell::run(Command::new("git").args(["clone", "--quiet", "--local"]).args([&root, &clone]))?;
    shell::run(cargo(&clone, folder, &["fetch", "--quiet"]).stderr(Stdio::inherit()))?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism()?;
    println!("{cores} cores, load {} before; the goals are for two idle cores", load.split(' ').next().unwrap_or("?"));

    let before = ticks();
    let first = timed(&mut cargo(&clone, folder, &["run", "--release", "-p", "saxpy"]))?;
    println!("{first:6.1} s  from a fresh clone to the first kernel: `cargo run --release -p saxpy` (goal: 100)");
    if let (Some(before), Some(after)) = (before, ticks()) {
        let share = 100.0 * (after.stolen - before.stolen) as f64 / (after.all - before.all).max(1) as f64;
        println!("{share:6.1} %  of the cores' time meanwhile went to other machines on the same host");
    }
    // What the first build has put into the cache stands in for an installed one.
    let program = cached(folder)?;
    for (name, goal) in [("a", "a first package of one's own"), ("b", "a second one (goal: 10)")] {
        let new = timed(command(&program, folder, folder, &[]).args(["ptx", "new", "--vcs", "none", name]))?;
        let run = timed(&mut cargo(&folder.join(name), folder, &["run"]))?;
        println!("{:6.1} s  {goal}: `cargo ptx new {name} && cd {name} && cargo run`", new + run);
    }
    Ok(ExitCode::SUCCESS)
}

/// Of all cores since they started.
struct Ticks {
    /// That a hypervisor gave to others.
    stolen: u64,
    all: u64,
}

/// Nothing but on Linux.
fn ticks() -> Option<Ticks> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> = text.lines().next()?.split_whitespace().filter_map(|part| part.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; what follows is in the first two already.
    let ticks = ticks.get(..8)?;
    Some(Ticks { stolen: ticks[7], all: ticks.iter().sum() })
}

/// cargo there, as a new user's.
fn cargo(dir: &Path, scratch: &Path, args: &[&str]) -> Command {
    command("cargo", dir, scratch, args)
}

fn command(program: impl AsRef<std::ffi::OsStr>, dir: &Path, scratch: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    for name in std::env::vars_os().map(|(name, _)| name) {
        // Ours is run by cargo, whose variables a user's shell does not have.
        if name.to_str().is_some_and(|name| VARIABLES.contains(&name) || name.starts_with("CARGO_PKG_")) {
            command.env_remove(name);
        }
    }
    command.env("RUST_PTX_CACHE", scratch.join("cache"));
    if dir != scratch.join("rust-ptx") {
        // Packages share this folder, by their configuration: here an empty one.
        command.env("CARGO_BUILD_BUILD_DIR", scratch.join("build"));
    }
    command
}

/// Seconds that it takes; an error if it fails.
fn timed(command: &mut Command) -> Result<f64> {
    let begin = Instant::now();
    shell::run(command)?;
    Ok(begin.elapsed().as_secs_f64())
}

/// The `cargo-ptx` that a build script has built into the cache.
fn cached(scratch: &Path) -> Result<PathBuf> {
    let folders = std::fs::read_dir(scratch.join("cache/compiler"))?.flatten();
    let programs = folders.map(|folder| folder.path().join("bin/cargo-ptx"));
    programs.into_iter().find(|program| program.is_file()).context("no build script has built a compiler")
}

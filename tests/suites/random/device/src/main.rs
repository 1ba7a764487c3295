//! Runs packed random programs on the first GPU and compares their digests with the CPU's.
//!
//! `random-device FOLDER… [--json FILE]`: each folder has a `list.json`. A program that fails, or does not end, costs the
//! process its GPU; what comes after it runs in a new process.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use ptx::prelude::*;
use serde_json::{Value, json};

mod list;
mod run;

use list::{List, Program};

/// How long a program may be silent: far longer than any batch needs to load.
const PATIENCE: Duration = Duration::from_secs(40);

/// Runs packed random programs on the first GPU.
#[derive(Parser)]
struct Options {
    /// Where the programs are.
    folders: Vec<PathBuf>,
    /// Writes what was run and what differed, a line of JSON for each folder.
    #[arg(long)]
    json: Option<PathBuf>,
    /// The commit that the programs were made at.
    #[arg(long)]
    commit: Option<String>,
    /// The day, noted in the record.
    #[arg(long)]
    date: Option<String>,
    /// Ends after so many seconds.
    #[arg(long)]
    limit: Option<u64>,
    /// Runs these programs in this process, from the given place on; the parent reads what it prints.
    #[arg(long, hide = true)]
    from: Option<usize>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(from) = options.from {
        return match List::read(&options.folders[0]).and_then(|list| run::run(&list, from)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    match all(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all folders; whether nothing differed and nothing was left out.
fn all(options: &Options) -> Result<bool, String> {
    let device = Device::first().map_err(|error| error.to_string())?;
    let begin = Instant::now();
    let (mut records, mut failed, mut left) = (String::new(), 0, 0);
    for folder in &options.folders {
        let list = List::read(folder)?;
        let limit = options.limit.map(|limit| Duration::from_secs(limit).saturating_sub(begin.elapsed()));
        let outcome = watch(&list, limit)?;
        let ran = list.programs().take(outcome.ran).collect::<Vec<_>>();
        let at = |level| ran.iter().filter(|program: &&Program| program.level == level).count();
        println!(
            "{}: {} at level 3 and {} at level 0 in {} s, {} differ, {} were not run",
            list.what,
            at(3),
            at(0),
            outcome.seconds.round(),
            outcome.failures.len(),
            list.programs().count() - outcome.ran
        );
        failed += outcome.failures.len();
        left += list.programs().count() - outcome.ran;
        let cuda = device.driver_version().ok().map(|(major, minor)| format!("{major}.{minor}"));
        let record = json!({
            "what": list.what, "seed": list.seed, "threads": list.threads, "gpu": device.name(), "cuda": cuda,
            "driver": driver(), "commit": options.commit, "date": options.date, "level_3": at(3), "level_0": at(0),
            "levels": list.levels(), "seconds": outcome.seconds.round(), "failures": outcome.failures,
        });
        records += &format!("{record}\n");
        if let Some(path) = &options.json {
            fs::write(path, &records).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(failed == 0 && left == 0)
}

/// The driver's release, which the CUDA API does not say.
fn driver() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    text.split_whitespace().find(|word| word.split('.').count() == 3).map(ToString::to_string)
}

/// What came of a folder.
struct Outcome {
    ran: usize,
    failures: Vec<Value>,
    seconds: f64,
}

/// Runs the list in one process after the other, each until a program costs it its GPU.
fn watch(list: &List, limit: Option<Duration>) -> Result<Outcome, String> {
    let begin = Instant::now();
    let (mut ran, mut failures) = (0, Vec::new());
    let programs: Vec<Program> = list.programs().collect();
    let over = || limit.is_some_and(|limit| begin.elapsed() > limit);
    while ran < programs.len() && !over() {
        let mut child = Command::new(std::env::current_exe().map_err(|error| error.to_string())?)
            .arg(&list.folder)
            .args(["--from", &ran.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let lines = lines(&mut child);
        let hung = loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) if line == "ok" => ran += 1,
                Ok(line) => {
                    println!("{}: {line}", programs[ran]);
                    failures.push(failure(programs[ran], &line));
                    ran += 1;
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break false,
                Err(mpsc::RecvTimeoutError::Timeout) => break true,
            }
            if over() {
                break false;
            }
        };
        // It may be gone already.
        _ = child.kill();
        let status = child.wait().map_err(|error| error.to_string())?;
        if ran < programs.len() && !over() {
            let what = if hung { "it does not end".to_string() } else { format!("its process ended: {status}") };
            println!("{}: {what}", programs[ran]);
            failures.push(failure(programs[ran], &what));
            ran += 1;
        }
    }
    Ok(Outcome { ran, failures, seconds: begin.elapsed().as_secs_f64() })
}

fn failure(program: Program, what: &str) -> Value {
    json!({ "program": program.to_string(), "number": program.number(), "level": program.level, "what": what })
}

/// What the child prints, as it comes.
fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let output = child.stdout.take().expect("it is piped");
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

//! The suite in several processes at once: the CPU judges the floats of one while the GPU works for the others.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::record;

/// Tests that run in processes of their own.
struct Kind {
    /// Part of their names; a test is of the first kind that fits.
    name: &'static str,
    /// Among how many processes they are divided.
    processes: usize,
    /// Whether they need the GPU to themselves: because they fill its memory, or watch how much of it is free; or because their
    /// kernels trap by the hundred, and a driver was seen to lose the GPU where other processes work beside that.
    alone: bool,
}

/// Each test is of one of them.
const KINDS: [Kind; 11] = [
    Kind { name: "memory for", processes: 1, alone: true },
    Kind { name: "concurrency", processes: 1, alone: true },
    Kind { name: "launches", processes: 1, alone: true },
    Kind { name: "stack", processes: 1, alone: true },
    Kind { name: "panic", processes: 1, alone: true },
    Kind { name: "crate", processes: 1, alone: true },
    Kind { name: "core tests", processes: 1, alone: false },
    Kind { name: "the suite under", processes: 4, alone: false },
    Kind { name: "float accuracy", processes: 3, alone: false },
    Kind { name: "float as nvcc", processes: 3, alone: false },
    Kind { name: "", processes: 1, alone: false },
];

/// What of the suite a process runs: the tests of a kind, or every so manyth of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    kind: usize,
    index: usize,
}

impl Share {
    /// As [`Share::argument`] writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, index) = text.split_once('/')?;
        let share = Self { kind: kind.parse().ok()?, index: index.parse().ok()? };
        (share.kind < KINDS.len() && share.index < KINDS[share.kind].processes).then_some(share)
    }

    fn argument(self) -> String {
        format!("{}/{}", self.kind, self.index)
    }

    /// Every share of every kind.
    fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().enumerate().flat_map(|(kind, of)| (0..of.processes).map(move |index| Self { kind, index }))
    }

    /// The shares that tests of these names belong to, in their order.
    pub fn of_tests<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let mut counts = [0; KINDS.len()];
        let share = |name: &str| {
            let kind = KINDS.iter().position(|kind| name.contains(kind.name)).expect("the last kind fits all");
            let index = counts[kind] % KINDS[kind].processes;
            counts[kind] += 1;
            Self { kind, index }
        };
        names.map(share).collect()
    }

    fn text(self) -> String {
        let Kind { name, processes, .. } = KINDS[self.kind];
        match (name, processes) {
            ("", _) => "what is of no other kind".into(),
            (name, 1) => format!("`{name}`"),
            (name, processes) => format!("`{name}`, {} of {processes}", self.index + 1),
        }
    }
}

/// Runs this program once for each share that has tests, with these arguments too, and writes one record of all. What needs
/// the GPU for itself comes last.
pub fn run(
    wanted: &[Share],
    arguments: &[String],
    json: Option<&Path>,
    limit: Option<u64>,
) -> Result<ExitCode, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let end = limit.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let start = |share: Share| {
        let paths = ["json", "txt"]
            .map(|extension| folder.path().join(share.argument().replace('/', "-")).with_extension(extension));
        Part::start(arguments, share, paths).map_err(|error| error.to_string())
    };
    let (mut head, mut tests) = (Value::Null, Vec::new());
    let mut note = |part: Part| {
        let (of_part, mut more, said) = part.finish(end)?;
        print!("{said}");
        tests.append(&mut more);
        if head.is_null() {
            head = of_part;
        }
        Ok::<(), String>(())
    };
    let (alone, beside): (Vec<Share>, _) =
        Share::all().filter(|share| wanted.contains(share)).partition(|share| KINDS[share.kind].alone);
    let begun = beside.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
    begun.into_iter().try_for_each(&mut note)?;
    for share in alone {
        note(start(share)?)?;
    }
    let count = |result: &str| tests.iter().filter(|test| test["result"] == result).count();
    let [passed, failed, skipped] = ["passed", "failed", "skipped"].map(count);
    if let Some(path) = json {
        record::write(path, head, &tests)?;
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A process that runs a share.
struct Part {
    share: Share,
    child: Child,
    json: PathBuf,
    said: PathBuf,
}

impl Part {
    fn start(arguments: &[String], share: Share, paths: [PathBuf; 2]) -> std::io::Result<Self> {
        let [json, said] = paths;
        let output = File::create(&said)?;
        let child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .arg("--json")
            .arg(&json)
            .args(["--share", &share.argument()])
            .stderr(output.try_clone()?)
            .stdout(output)
            .spawn()?;
        Ok(Self { share, child, json, said })
    }

    /// The head and the tests of its record, and what it printed, when it has ended, or at the end of the time.
    fn finish(mut self, end: Option<Instant>) -> Result<(Value, Vec<Value>, String), String> {
        let status = loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break Some(status),
                None if end.is_some_and(|end| Instant::now() >= end) => break None,
                None => std::thread::sleep(Duration::from_millis(100)),
            }
        };
        if status.is_none() {
            // It may end by itself just now.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let said = fs::read(&self.said).map_err(|error| error.to_string())?;
        let text = fs::read_to_string(&self.json).unwrap_or_default();
        let (head, mut tests) = record::read(&text);
        let has_failures = tests.iter().any(|test| test["result"] == "failed");
        let fault = match status {
            None => Some("the time was up before its last test".to_string()),
            Some(status) if !status.success() && !has_failures => Some(status.to_string()),
            Some(_) => None,
        };
        if let Some(fault) = fault {
            let name = format!("all of {}", self.share.text());
            tests.push(json!({ "name": name, "result": "failed", "detail": fault, "seconds": 0.0 }));
        }
        Ok((head, tests, String::from_utf8_lossy(&said).into_owned()))
    }
}

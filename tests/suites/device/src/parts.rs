//! The suite in several processes at once: the CPU judges the floats of one while the GPU works for the others.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::record;

/// What libtest is told in each: every test belongs to exactly one.
const PARTS: [&[&str]; 4] = [
    &["float accuracy"],
    &["core tests"],
    &["float", "--skip", "float accuracy", "--skip", "core tests"],
    &["--skip", "float", "--skip", "core tests"],
];

/// Runs this program once for each part, with these arguments too, and writes one record of all.
pub fn run(arguments: &[String], json: Option<&Path>, limit: Option<u64>) -> Result<ExitCode, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let end = limit.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut parts = Vec::new();
    for (index, filter) in PARTS.iter().enumerate() {
        let paths = ["json", "txt"].map(|extension| folder.path().join(format!("{index}.{extension}")));
        parts.push(Part::start(arguments, filter, paths).map_err(|error| error.to_string())?);
    }
    let mut head = Value::Null;
    let mut tests = Vec::new();
    for part in parts {
        let (of_part, mut more, said) = part.finish(end)?;
        print!("{said}");
        tests.append(&mut more);
        if head.is_null() {
            head = of_part;
        }
    }
    let count = |result: &str| tests.iter().filter(|test| test["result"] == result).count();
    let [passed, failed, skipped] = ["passed", "failed", "skipped"].map(count);
    if let Some(path) = json {
        record::write(path, head, &tests)?;
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A process that runs the tests of one of [`PARTS`].
struct Part {
    filter: &'static [&'static str],
    child: Child,
    json: PathBuf,
    said: PathBuf,
}

impl Part {
    fn start(arguments: &[String], filter: &'static [&'static str], paths: [PathBuf; 2]) -> std::io::Result<Self> {
        let [json, said] = paths;
        let output = File::create(&said)?;
        let child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .arg("--json")
            .arg(&json)
            .args(filter)
            .stderr(output.try_clone()?)
            .stdout(output)
            .spawn()?;
        Ok(Self { filter, child, json, said })
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
            let name = format!("all of `{}`", self.filter.join(" "));
            tests.push(json!({ "name": name, "result": "failed", "detail": fault, "seconds": 0.0 }));
        }
        Ok((head, tests, String::from_utf8_lossy(&said).into_owned()))
    }
}

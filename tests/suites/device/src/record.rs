//! What ran where, in lines of JSON: first GPU, driver, commit, date and how many tests passed, then a line for every test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};

use crate::gpu::{Gpu, Missing, gpu};

/// What a test does, and what is to be recorded of it, null for nothing; or why it cannot run here.
type Body = Arc<dyn Fn(&Gpu) -> Result<Value, String> + Send + Sync>;

/// A test on a GPU; it fails by panicking.
#[derive(Clone)]
pub struct Test {
    /// What filters match and records list: `float as nvcc: sinf`.
    pub name: String,
    /// What it does.
    pub body: Body,
}

/// A test that is a function.
pub fn test(name: &str, body: impl Fn(&Gpu) + Send + Sync + 'static) -> Test {
    recorded(name, move |gpu| {
        body(gpu);
        Value::Null
    })
}

/// A test whose results are recorded.
pub fn recorded(name: &str, body: impl Fn(&Gpu) -> Value + Send + Sync + 'static) -> Test {
    Test { name: name.into(), body: Arc::new(move |gpu| Ok(body(gpu))) }
}

/// A test that may say why it cannot run here.
pub fn skippable(name: &str, body: impl Fn(&Gpu) -> Result<(), String> + Send + Sync + 'static) -> Test {
    Test { name: name.into(), body: Arc::new(move |gpu| body(gpu).map(|()| Value::Null)) }
}

/// A test whose results are recorded, and that may say why it cannot run here.
pub fn skippable_recorded(name: &str, body: impl Fn(&Gpu) -> Result<Value, String> + Send + Sync + 'static) -> Test {
    Test { name: name.into(), body: Arc::new(body) }
}

/// How often the file is written while tests run, so that something is left if they are ended.
const INTERVAL: Duration = Duration::from_secs(5);

/// Results so far.
#[derive(Clone)]
pub struct Record {
    path: Option<PathBuf>,
    commit: Option<String>,
    date: Option<String>,
    results: Arc<Mutex<Vec<Value>>>,
    written: Arc<Mutex<Instant>>,
}

impl Record {
    /// An empty one.
    pub fn new(path: Option<PathBuf>, commit: Option<String>, date: Option<String>) -> Self {
        Self { path, commit, date, results: Arc::default(), written: Arc::new(Mutex::new(Instant::now())) }
    }

    /// The test, noting how it went.
    pub fn trial(&self, test: Test) -> Trial {
        let record = self.clone();
        Trial::ignorable_test(test.name.clone(), move || {
            let start = Instant::now();
            let outcome = run(&test);
            let (result, detail) = match &outcome {
                Ok((Completion::Completed, results)) => ("passed", results.clone()),
                Ok((Completion::Ignored { reason }, _)) => ("skipped", json!(reason)),
                Err(failed) => ("failed", json!(failed.message())),
            };
            let seconds = (start.elapsed().as_secs_f64() * 1e3).round() / 1e3;
            let mut entry = json!({ "name": test.name, "result": result, "seconds": seconds });
            if !detail.is_null() {
                entry["detail"] = detail;
            }
            record.results.lock().expect("nobody panics with the lock").push(entry);
            record.write_at_times();
            outcome.map(|(completion, _)| completion)
        })
    }

    /// Writes the record if it is time.
    fn write_at_times(&self) {
        let mut written = self.written.lock().expect("nobody panics with the lock");
        if written.elapsed() >= INTERVAL {
            // The last one says what is wrong.
            let _ = self.write();
            *written = Instant::now();
        }
    }

    /// Writes the record where there is a path.
    pub fn write(&self) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let gpu = gpu().ok();
        let driver = gpu.and_then(|gpu| gpu.device.driver_version().ok());
        let head = json!({
            "gpu": gpu.map(|gpu| gpu.device.name()),
            "compute_capability": gpu.map(|gpu| gpu.device.capability()),
            "driver": driver_release(),
            "cuda": driver.map(|(major, minor)| format!("{major}.{minor}")),
            "loaded": gpu.map(|gpu| gpu.module.loaded()),
            "commit": self.commit,
            "date": self.date,
        });
        write(path, head, &self.results.lock().expect("nobody panics with the lock"))
    }
}

/// Writes a record: `head` with the numbers of tests, and the tests.
pub fn write(path: &Path, mut head: Value, tests: &[Value]) -> Result<(), String> {
    for result in ["passed", "failed", "skipped"] {
        head[result] = json!(tests.iter().filter(|test| test["result"] == result).count());
    }
    let text: String = std::iter::once(&head).chain(tests).map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Reads one: its head and its tests; of what a process left behind that was ended, as much as there is.
pub fn read(text: &str) -> (Value, Vec<Value>) {
    let mut lines = text.lines().map_while(|line| serde_json::from_str(line).ok());
    (lines.next().unwrap_or(json!({})), lines.collect())
}

fn run(test: &Test) -> Result<(Completion, Value), Failed> {
    let gpu = match gpu() {
        Ok(gpu) => gpu,
        Err(Missing::Gpu(reason)) => return Ok((Completion::ignored_with(reason), Value::Null)),
        Err(Missing::Kernels(reason)) => return Err(Failed::from(reason)),
    };
    let results = catch_unwind(AssertUnwindSafe(|| (test.body)(gpu))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Failed::from(text.unwrap_or_else(|| "it panicked".into()))
    })?;
    Ok(match results {
        Ok(results) => (Completion::Completed, results),
        Err(reason) => (Completion::ignored_with(reason), Value::Null),
    })
}

/// As in `580.65.06`, where the driver tells.
fn driver_release() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    text.split_whitespace()
        .find(|word| word.split('.').count() >= 2 && word.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_string)
}

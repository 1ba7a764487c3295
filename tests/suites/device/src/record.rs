//! What ran where, as one JSON object: GPU, driver, commit, and every test with its result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
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
    /// Its name.
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
    results: Arc<Mutex<Vec<Value>>>,
    written: Arc<Mutex<Instant>>,
}

impl Record {
    /// An empty one.
    pub fn new(path: Option<PathBuf>, commit: Option<String>) -> Self {
        Self { path, commit, results: Arc::default(), written: Arc::new(Mutex::new(Instant::now())) }
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
            let seconds = start.elapsed().as_secs_f64();
            let entry = json!({ "name": test.name, "result": result, "detail": detail, "seconds": seconds });
            record.results.lock().expect("nobody panics with the lock").push(entry);
            record.write_at_times();
            outcome.map(|(completion, _)| completion)
        })
    }

    /// Writes the object if it is time.
    fn write_at_times(&self) {
        let mut written = self.written.lock().expect("nobody panics with the lock");
        if written.elapsed() >= INTERVAL {
            // The last one says what is wrong.
            let _ = self.write();
            *written = Instant::now();
        }
    }

    /// Writes the object where there is a path.
    pub fn write(&self) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let gpu = gpu().ok();
        let driver = gpu.and_then(|gpu| gpu.device.driver_version().ok());
        let object = json!({
            "gpu": gpu.map(|gpu| gpu.device.name()),
            "compute_capability": gpu.map(|gpu| gpu.device.capability()),
            "driver": driver_release(),
            "cuda": driver.map(|(major, minor)| format!("{major}.{minor}")),
            "loaded": gpu.map(|gpu| gpu.module.loaded()),
            "commit": self.commit,
            "tests": *self.results.lock().expect("nobody panics with the lock"),
        });
        let text = serde_json::to_string_pretty(&object).map_err(|error| error.to_string())?;
        std::fs::write(path, text + "\n").map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
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

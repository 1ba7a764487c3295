//! The tests of Rust's own `core`, which `cargo xtask device-bundle` compiled in groups; a test here is a group of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ptx_test_runner::{Options, Runner, Tests};
use serde_json::{Value, json};

use crate::record::{Test, recorded};

/// What cannot pass on a GPU: a line has a name, as in `O0 slice: slice::test_x`, a tab, and the reason.
const UNRUNNABLE: &str = include_str!("core_tests.txt");

/// How many groups the driver compiles and runs at once, at most: as many as there are processors but two. What they
/// launch takes turns, and they share the device's memory.
const AT_ONCE: usize = 12;

/// How long a test may take. Those that take longer on one thread of a GPU are in the table.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long all groups together may take: the driver compiles 300 MB of PTX for them.
const LIMIT: Duration = Duration::from_secs(480);

/// A test for every group in the folder.
pub fn tests(folder: &Path) -> Vec<Test> {
    // A bundle that was packed without Rust's sources has none.
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let mut images: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    images.sort();
    let images: Arc<[PathBuf]> = images.into();
    let results = Arc::new(OnceLock::new());
    let test = |index: usize| {
        let (images, results) = (Arc::clone(&images), Arc::clone(&results));
        recorded(&format!("core tests: {}", name(&images[index])), move |_| {
            let all: &Vec<Value> = results.get_or_init(|| run_all(&images));
            let found = &all[index];
            assert!(found["failed"].as_object().is_some_and(serde_json::Map::is_empty), "{found:#}");
            found.clone()
        })
    };
    (0..images.len()).map(test).collect()
}

/// `O0 slice`, of the folder `O0-slice`.
fn name(image: &Path) -> String {
    image.file_name().unwrap_or_default().to_string_lossy().replacen('-', " ", 1)
}

fn run_all(images: &[PathBuf]) -> Vec<Value> {
    let results: Vec<OnceLock<Value>> = images.iter().map(|_| OnceLock::new()).collect();
    let (next, end) = (AtomicUsize::new(0), Instant::now() + LIMIT);
    let at_once =
        std::thread::available_parallelism().map_or(1, |count| count.get().saturating_sub(2).clamp(1, AT_ONCE));
    // What takes longest begins first.
    let mut order: Vec<usize> = (0..images.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(size(&images[*index])));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    _ = results[*index].set(run(&images[*index], at_once, end));
                }
            });
        }
    });
    results.into_iter().map(|result| result.into_inner().expect("every image was taken once")).collect()
}

/// The bytes of what is in a folder.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}

/// Numbers, what failed with its message, what was not run with its reason, and what took longest.
fn run(image: &Path, share: usize, end: Instant) -> Value {
    let tests = match Tests::read(image) {
        Ok(tests) => tests,
        Err(reason) => return json!({ "failed": { "all": reason } }),
    };
    let unoptimised = name(image).starts_with("O0");
    let load = end.saturating_duration_since(Instant::now());
    let options = Options { deadline: DEADLINE, load, share, unoptimised };
    let mut runner = Runner::new(tests.clone(), options);
    let begun = Instant::now();
    if let Err(reason) = runner.start() {
        return json!({ "failed": { "all": reason } });
    }
    let load = begun.elapsed();
    let mut passed = 0;
    let (mut failed, mut skipped) = (BTreeMap::new(), BTreeMap::new());
    let mut times = Vec::new();
    for (index, test) in tests.tests.iter().enumerate() {
        let full = format!("{}: {}", name(image), test.name);
        if test.ignored {
            skipped.insert(&test.name, test.ignore_message.clone().unwrap_or_else(|| "#[ignore]".into()));
        } else if let Some(reason) = unrunnable(&full) {
            skipped.insert(&test.name, reason.to_string());
        } else if Instant::now() >= end {
            failed.insert(&test.name, "the time was up before it".to_string());
        } else {
            let outcome = runner.run(index);
            times.push((outcome.time, &test.name));
            match outcome.result {
                Ok(()) => passed += 1,
                Err(reason) => drop(failed.insert(&test.name, reason)),
            }
        }
    }
    times.sort();
    let seconds = |time: Duration| (time.as_secs_f64() * 1e3).round() / 1e3;
    let slowest: Vec<Value> = times.iter().rev().take(5).map(|(time, name)| json!([name, seconds(*time)])).collect();
    json!({
        "passed": passed, "failed": failed, "skipped": skipped, "load_seconds": seconds(load),
        "seconds": seconds(times.iter().map(|(time, _)| *time).sum()), "slowest": slowest,
    })
}

fn unrunnable(name: &str) -> Option<&'static str> {
    let mut lines = UNRUNNABLE.lines().filter_map(|line| line.split_once('\t'));
    lines.find(|(unrunnable, _)| *unrunnable == name).map(|(_, reason)| reason)
}

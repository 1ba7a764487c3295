//! Tests in processes of their own, several at once: a panic loses the device for the process that had it.

use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a child may take: one that hangs is a failed test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a child of each name, so many at once; what they printed, in the names' order.
pub fn all(names: &[String], at_once: usize) -> Vec<Value> {
    let results: Vec<OnceLock<Value>> = names.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(name), Some(result)) = (names.get(at), results.get(at)) else { break };
                    _ = result.set(one(name));
                }
            });
        }
    });
    results.into_iter().map(|result| result.into_inner().expect("every child was started once")).collect()
}

/// The last line that the child of this name printed.
pub fn one(name: &str) -> Value {
    let program = std::env::current_exe().expect("a running program has a path");
    let mut child = Command::new(program).args(["--child", name]).stdout(Stdio::piped()).spawn().expect("it starts");
    let begin = Instant::now();
    while child.try_wait().expect("it is our child").is_none() {
        if begin.elapsed() > PATIENCE {
            _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it is our child");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let value = stdout.lines().last().and_then(|line| serde_json::from_str(line).ok());
    value.unwrap_or_else(|| json!({ "failed": format!("{} after {:?}: {stdout}", output.status, begin.elapsed()) }))
}

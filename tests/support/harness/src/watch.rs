//! Says on standard error which case a run waits for, when one takes long.

use std::collections::BTreeMap;
use std::sync::{Mutex, Once};
use std::thread;
use std::time::{Duration, Instant};

/// A case is named when it has taken so long, and again after twice, four times, … of it.
const LONG: Duration = Duration::from_secs(5);

/// Cases that run, by number: name, beginning, and when to name it next.
static RUNNING: Mutex<BTreeMap<u64, (String, Instant, Duration)>> = Mutex::new(BTreeMap::new());

/// A case that runs as long as this is there.
pub struct Running(u64);

impl Running {
    /// It begins.
    pub fn new(name: &str) -> Self {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| drop(thread::spawn(watch)));
        let mut running = lock();
        let number = running.last_key_value().map_or(0, |(last, _)| last + 1);
        running.insert(number, (name.to_string(), Instant::now(), LONG));
        Self(number)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock().remove(&self.0);
    }
}

fn lock() -> std::sync::MutexGuard<'static, BTreeMap<u64, (String, Instant, Duration)>> {
    RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn watch() {
    loop {
        thread::sleep(Duration::from_secs(1));
        for (name, begin, next) in lock().values_mut().filter(|(_, begin, next)| begin.elapsed() >= *next) {
            eprintln!("running for {} s: {name}", begin.elapsed().as_secs());
            *next *= 2;
        }
    }
}

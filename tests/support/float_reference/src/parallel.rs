//! Work on all cores.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Elements that a thread takes at once.
const CHUNK: usize = 256;

/// Calls `work` for pieces of `0..count` on all cores, until all are done or the time is over, and merges what it returns.
/// Each piece begins where the one before ended, so that what is done is always a beginning of the range: the second
/// result says how long it is.
pub fn run<T: Send>(
    count: usize,
    limit: Duration,
    work: impl Fn(Range<usize>) -> T + Sync,
    merge: impl Fn(T, T) -> T + Sync,
) -> (Option<T>, usize) {
    let next = AtomicUsize::new(0);
    let total: Mutex<Option<T>> = Mutex::new(None);
    let deadline = Instant::now() + limit;
    let add = |value: T| {
        let mut total = total.lock().expect("nobody panics with the lock");
        *total = Some(match total.take() {
            Some(before) => merge(before, value),
            None => value,
        });
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while Instant::now() < deadline {
                    let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                    if from >= count {
                        return;
                    }
                    add(work(from..count.min(from + CHUNK)));
                }
            });
        }
    });
    let done = next.into_inner().min(count);
    (total.into_inner().expect("nobody panics with the lock"), done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once() {
        let sum = |range: Range<usize>| range.map(|i| i as u64).sum::<u64>();
        let (total, done) = run(100_000, Duration::from_secs(60), sum, |a, b| a + b);
        assert_eq!((total, done), (Some(100_000 * 99_999 / 2), 100_000));
        assert_eq!(run(0, Duration::from_secs(60), sum, |a, b| a + b), (None, 0));
    }

    #[test]
    fn what_was_done_is_known_when_time_is_over() {
        let count = |range: Range<usize>| {
            std::thread::sleep(Duration::from_millis(5));
            range.len()
        };
        let (total, done) = run(100_000_000, Duration::from_millis(50), count, |a, b| a + b);
        assert_eq!(total, Some(done));
        assert!((1..100_000_000).contains(&done));
    }
}

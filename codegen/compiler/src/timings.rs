//! How long each stage takes: `time!` measures a call, and spans nest as the calls do.

use std::cell::RefCell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Calls a function, and notes how long it took under the name that the architecture page has for it.
macro_rules! time {
    (phases::$phase:ident ($($argument:expr),* $(,)?)) => {{
        let _span = $crate::timings::begin(stringify!($phase));
        phases::$phase($($argument),*)
    }};
    ($first:ident $(:: $rest:ident)* ($($argument:expr),* $(,)?)) => {{
        let _span = $crate::timings::begin(concat!(stringify!($first) $(, "::", stringify!($rest))*));
        $first $(:: $rest)* ($($argument),*)
    }};
}
pub(crate) use time;

/// A stretch of time with a name: a stage, a phase, an arch, a run of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Of a stage and a phase, as on the architecture page.
    pub name: String,
    /// Index of the span that this one is a part of; it comes before.
    pub parent: Option<usize>,
    /// In seconds since the beginning.
    pub start: f64,
    /// In seconds since the beginning.
    pub end: f64,
    /// Whether it goes on while others do: a process of its own.
    #[serde(default)]
    pub beside: bool,
}

impl Span {
    /// In seconds.
    pub fn seconds(&self) -> f64 {
        self.end - self.start
    }
}

/// What ptxas took for one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelTime {
    /// The symbol in the PTX.
    pub name: String,
    /// The GPU that it was compiled for, as in `sm_90`.
    pub arch: String,
    /// By ptxas's own clock.
    pub seconds: f64,
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// When it began, in seconds since 1970.
    pub begun: f64,
    /// How long all of it took.
    pub seconds: f64,
    /// In order of their beginnings; those that are `beside` where they ended.
    pub spans: Vec<Span>,
    /// In ptxas's order; empty where ptxas did not run or worked on several kernels at once.
    pub kernels: Vec<KernelTime>,
}

/// Of this thread, which the pipeline runs on.
struct Recorder {
    begun: Instant,
    measured: Timings,
    open: Vec<usize>,
}

thread_local! {
    static RECORDER: RefCell<Recorder> = RefCell::new(Recorder::new());
}

impl Recorder {
    fn new() -> Self {
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
        let measured = Timings { begun, ..Timings::default() };
        Self { begun: Instant::now(), measured, open: Vec::new() }
    }

    fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begun).as_secs_f64()
    }
}

/// Ends its span when it is dropped.
pub struct Open(usize);

impl Drop for Open {
    fn drop(&mut self) {
        RECORDER.with_borrow_mut(|recorder| {
            let end = recorder.seconds(Instant::now());
            // Not if all was taken meanwhile.
            recorder.open.pop();
            if let Some(span) = recorder.measured.spans.get_mut(self.0) {
                span.end = end;
            }
        });
    }
}

/// Begins a span within the one that is open.
pub fn begin(name: impl Into<String>) -> Open {
    RECORDER.with_borrow_mut(|recorder| {
        let start = recorder.seconds(Instant::now());
        let index = recorder.measured.spans.len();
        let parent = recorder.open.last().copied();
        recorder.measured.spans.push(Span { name: name.into(), parent, start, end: start, beside: false });
        recorder.open.push(index);
        Open(index)
    })
}

/// Notes what a process of its own took.
pub fn beside(name: String, start: Instant, end: Instant) {
    RECORDER.with_borrow_mut(|recorder| {
        let (start, end) = (recorder.seconds(start), recorder.seconds(end));
        recorder.measured.spans.push(Span { name, parent: None, start, end, beside: true });
    });
}

/// Notes a part of the open span.
pub fn part(name: &str, start: Instant, end: Instant) {
    RECORDER.with_borrow_mut(|recorder| {
        let (start, end) = (recorder.seconds(start), recorder.seconds(end));
        let parent = recorder.open.last().copied();
        recorder.measured.spans.push(Span { name: name.into(), parent, start, end, beside: false });
    });
}

/// Notes what ptxas took for some kernels.
pub fn kernels(times: impl IntoIterator<Item = KernelTime>) {
    RECORDER.with_borrow_mut(|recorder| recorder.measured.kernels.extend(times));
}

/// Takes over, as a part of the open span, what another process measured by its own clock. Returns when that began.
pub fn adopt(name: &str, others: Timings) -> Instant {
    RECORDER.with_borrow_mut(|recorder| {
        let parent = recorder.open.last().copied();
        let spans = &mut recorder.measured.spans;
        // Clocks that were set meanwhile put nothing before what it is a part of.
        let earliest = parent.map_or(0.0, |parent| spans[parent].start);
        let start = (others.begun - recorder.measured.begun).max(earliest);
        let whole = spans.len();
        spans.push(Span { name: name.into(), parent, start, end: start + others.seconds, beside: false });
        spans.extend(others.spans.into_iter().map(|span| Span {
            parent: Some(span.parent.map_or(whole, |parent| whole + 1 + parent)),
            start: start + span.start,
            end: start + span.end,
            ..span
        }));
        recorder.measured.kernels.extend(others.kernels);
        recorder.begun + Duration::from_secs_f64(start)
    })
}

/// All that was measured on this thread so far; what follows begins anew.
pub fn take() -> Timings {
    RECORDER.with_borrow_mut(|recorder| {
        let seconds = recorder.seconds(Instant::now());
        Timings { seconds, ..std::mem::replace(recorder, Recorder::new()).measured }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    mod stage {
        pub fn sleep(millis: u64) -> u64 {
            std::thread::sleep(std::time::Duration::from_millis(millis));
            millis
        }
    }

    #[test]
    fn spans_nest_as_calls_do_and_parts_fit_into_the_whole() {
        take();
        {
            let _arch = begin("sm_90");
            assert_eq!(time!(stage::sleep(2)) + time!(stage::sleep(1)), 3);
        }
        let start = Instant::now();
        beside("ptxas sm_90".into(), start, start + Duration::from_millis(5));
        let measured = take();
        let spans = &measured.spans;
        let shape: Vec<_> = spans.iter().map(|span| (&*span.name, span.parent, span.beside)).collect();
        let expected = [
            ("sm_90", None, false),
            ("stage::sleep", Some(0), false),
            ("stage::sleep", Some(0), false),
            ("ptxas sm_90", None, true),
        ];
        assert_eq!(shape, expected);
        assert!(spans[1].seconds() >= 0.002 && spans[2].start >= spans[1].end);
        assert!(spans[0].start <= spans[1].start && spans[2].end <= spans[0].end);
        assert!((spans[3].seconds() - 0.005).abs() < 1e-9);
        assert!(measured.seconds >= spans[0].end && take().spans.is_empty());
    }

    #[test]
    fn what_another_process_measured_becomes_a_part() {
        let begun = take().begun;
        let others = {
            let _phase = begin("read");
            let _stage = begin("input::link");
            Timings { begun: begun - 100.0, ..take() }
        };
        {
            let _cargo = begin("cargo");
            adopt("linker", others);
        }
        let spans = take().spans;
        let shape: Vec<_> = spans.iter().map(|span| (&*span.name, span.parent)).collect();
        let expected = [("cargo", None), ("linker", Some(0)), ("read", Some(1)), ("input::link", Some(2))];
        assert_eq!(shape, expected);
        assert!(spans[1].start >= spans[0].start, "a clock that was set back puts it nowhere else");
    }
}

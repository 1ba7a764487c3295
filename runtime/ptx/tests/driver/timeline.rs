//! Timelines: what the trace says of streams and of the host.

use std::time::Duration;

use ptx::prelude::*;
use serde_json::Value;

use crate::driver::{device, driver};

/// The trace's events of a kind, as name, row, begin and length in microseconds.
fn spans(trace: &Value, category: &str) -> Vec<(String, u64, f64, f64)> {
    let events = trace["traceEvents"].as_array().expect("a list").iter();
    let spans = events.filter(|event| event["ph"] == "X" && event["cat"] == category);
    spans
        .map(|event| {
            let number = |key: &str| event[key].as_f64().unwrap_or_else(|| panic!("no {key} in {event}"));
            let name = event["name"].as_str().expect("a name").to_owned();
            (name, event["tid"].as_u64().expect("a row"), number("ts"), number("dur"))
        })
        .collect()
}

/// The fake device takes 1.5 ms from an event to the next one.
#[test]
fn a_timeline_has_a_row_for_each_stream_and_the_host() {
    let driver = driver();
    let device = device(&driver);
    let (left, right) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let timeline = device.timeline().unwrap();
    timeline.name(&right, "the \"right\" one");
    timeline.span(&left, "all", || timeline.span(&left, "part", || Ok(()))).unwrap();
    assert_eq!(timeline.span(&right, "other", || Ok(7)).unwrap(), 7);
    let failed: ptx::Result<()> = timeline.span(&right, "failed", || Device::open(9).map(drop));
    assert!(failed.is_err());
    timeline.host("sleep", || std::thread::sleep(Duration::from_millis(2)));
    let trace = timeline.finish().unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap_or_else(|error| panic!("{error}:\n{trace}"));
    let span = |name: &str, row, begin, length| (name.to_owned(), row, begin, length);
    let expected = [span("part", 2, 3000.0, 1500.0), span("all", 2, 1500.0, 4500.0), span("other", 1, 7500.0, 1500.0)];
    assert_eq!(spans(&trace, "device"), expected);
    let [(name, row, _, length)] = &spans(&trace, "host")[..] else { panic!("{trace}") };
    assert!((name.as_str(), *row) == ("sleep", 0) && *length >= 2000.0, "{length}");
    let names = trace["traceEvents"].as_array().expect("a list").iter();
    let names = names.filter(|event| event["name"] == "thread_name").map(|event| &event["args"]["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["host", "the \"right\" one", "stream 2"]);
}

/// The driver gives times in 24 bits: those of a program that runs for hours are counted from later events.
#[test]
fn a_late_span_is_where_it_belongs() {
    let driver = driver();
    let device = device(&driver);
    let timeline = device.timeline().unwrap();
    for name in ["first", "second", "third"] {
        timeline.span(device.stream(), name, || Ok(())).unwrap();
        for _ in 0..4000 {
            device.stream().record_event(None).unwrap();
        }
    }
    let trace: Value = serde_json::from_str(&timeline.finish().unwrap()).unwrap();
    let begins: Vec<f64> = spans(&trace, "device").into_iter().map(|(_, _, begin, _)| begin).collect();
    assert_eq!(begins, [1500.0, 1500.0 * 4003.0, 1500.0 * 8005.0]);
}

#[test]
fn a_timeline_is_of_one_device() {
    let driver = driver();
    let device = device(&driver);
    let other = Device::open(1).unwrap();
    let text = device.timeline().unwrap().span(other.stream(), "no", || Ok(())).unwrap_err().to_string();
    assert!(text.starts_with("the stream belongs to a context of device 1"), "{text}");
}

//! Kernels of collections and strings, as users write them: much code that several of them share, most of it cold.
#![no_std]

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use ptx::prelude::*;

/// What panics show, by its `Debug`.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    id: u32,
    name: String,
    parts: Vec<Option<i32>>,
}

fn record(values: &[u32]) -> Result<Record, Record> {
    let parts = values.iter().map(|value| i32::try_from(*value).ok()).collect();
    let record = Record { id: values[0], name: format!("record {}", values[0]), parts };
    if record.id % 7 == 3 { Err(record) } else { Ok(record) }
}

/// Counts words of numbers.
#[kernel]
pub fn count(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut counts = BTreeMap::new();
        for value in values {
            *counts.entry(value.to_string()).or_insert(0_u32) += 1;
        }
        *out = counts.into_iter().map(|(word, count)| word.len() as u32 * count).sum();
    }
}

/// Sorts, with a stable sort and without, and joins the result.
#[kernel]
pub fn sort(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut names: Vec<String> = values.iter().map(|value| format!("{value:x}")).collect();
        names.sort();
        let mut numbers = values.to_vec();
        numbers.sort_unstable();
        *out = names.join(",").len() as u32 + numbers[i.get() % numbers.len()];
    }
}

/// Breadth-first over a ring, with a queue and a set.
#[kernel]
pub fn search(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut queue = VecDeque::from([i.get() % values.len()]);
        let mut seen = BTreeSet::new();
        while let Some(at) = queue.pop_front() {
            if seen.insert(at) {
                queue.push_back((at + 1) % values.len());
                queue.push_back(values[at] as usize % values.len());
            }
        }
        *out = seen.len() as u32;
    }
}

/// Writes a report, and parses it again.
#[kernel]
pub fn report(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut text = String::new();
        for (at, value) in values.iter().enumerate() {
            write!(text, "{at}={value:?};").expect("a `String` takes any text");
        }
        let parsed: Vec<u32> =
            text.split_terminator(';').map(|part| part.split_once('=').unwrap().1.parse().unwrap()).collect();
        assert_eq!(parsed, values, "thread {}", i.get());
        *out = text.len() as u32;
    }
}

/// Shortest paths by a heap.
#[kernel]
pub fn shortest(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut best: BTreeMap<usize, u32> = BTreeMap::new();
        let mut heap = BinaryHeap::from([(0_u32, i.get() % values.len())]);
        while let Some((cost, at)) = heap.pop() {
            if best.get(&at).is_none_or(|known| cost > *known) && best.len() < values.len() {
                best.insert(at, cost);
                heap.push((cost + values[at], (at + 1) % values.len()));
                heap.push((cost + 1, values[at] as usize % values.len()));
            }
        }
        *out = best.values().copied().max().unwrap_or(0);
    }
}

/// Panics with what has a `Debug` of its own.
#[kernel]
pub fn checked(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let record = record(values).unwrap();
        assert_eq!(record.parts.len(), values.len());
        assert_ne!(record, Record { id: 0, ..record.clone() });
        *out = record.name.len() as u32;
    }
}

/// Shows floats and texts.
#[kernel]
pub fn show(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let floats: Vec<f32> = values.iter().map(|value| *value as f32 / 8.0).collect();
        let texts = [format!("{floats:?}"), format!("{:>8.3}", floats[0]), format!("{:#?}", record(values).ok())];
        *out = texts.concat().to_uppercase().chars().filter(|c| c.is_alphanumeric()).count() as u32;
    }
}

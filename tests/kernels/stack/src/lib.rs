//! Recursion of every shape, by number: one kernel runs any of it, as deep as asked, and so does the CPU.
#![no_std]

extern crate alloc;

mod shapes;

use alloc::collections::VecDeque;
use alloc::string::String;
use core::fmt::Write;
use core::hint::black_box;

use ptx::prelude::*;

pub use shapes::{SHAPES, run, show};

/// Every thread goes `depth` deep, from numbers of its own.
#[kernel]
pub fn recurse(shape: u32, depth: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = run(shape, depth, i.get() as u32);
    }
}

/// The same beside recursion that is never deep: each thread sorts.
#[kernel]
pub fn sort(mut out: DisjointSlice<[u32; 96]>) {
    if let Some(numbers) = out.get_mut(thread::index_1d()) {
        numbers.sort_unstable();
        let mut again = alloc::vec::Vec::from(&numbers[..]);
        again.sort_by_key(|number| number.reverse_bits());
        numbers.copy_from_slice(&again);
    }
}

/// A queue that grows, wraps and is sorted.
pub fn queue(seed: u32) -> u32 {
    let mut queue: VecDeque<u32> = (0..40).map(|number| seed.wrapping_mul(number | 1)).collect();
    for turn in 0..100 {
        let first = queue.pop_front().unwrap_or_default();
        queue.push_back(first.rotate_left(7) ^ turn);
        if turn % 9 == 0 {
            queue.push_front(first);
        }
    }
    queue.make_contiguous().sort_unstable();
    queue.iter().fold(seed, |digest, number| digest.rotate_left(5) ^ number)
}

/// Text of integers, floats and what derives `Debug`.
pub fn text(seed: u32) -> u32 {
    let mut text = String::new();
    // Writing into a string cannot fail.
    _ = write!(text, "{seed:>8} {:.3} {:?} {:#?}", f64::from(seed) / 7.0, [Some(seed), None], ("a", seed as u8));
    text.bytes().fold(seed, |digest, byte| digest.rotate_left(5) ^ u32::from(byte))
}

/// Each thread has a queue.
#[kernel]
pub fn queues(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = queue(i.get() as u32);
    }
}

/// Each thread writes.
#[kernel]
pub fn texts(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = text(i.get() as u32);
    }
}

/// Panics with a list of that length, whose `Debug` recurses.
#[kernel]
pub fn panics(length: u32) {
    show(length);
}

/// Bytes of the frame of [`huge`].
pub const HUGE: usize = 480_000;

/// A frame that a device has no room for where its memory is taken.
#[kernel]
pub fn huge(mut out: DisjointSlice<u32>) {
    let mut bytes = [0_u8; HUGE];
    let i = thread::index_1d();
    black_box(&mut bytes)[i.get()] = 1;
    if let Some(out) = out.get_mut(i) {
        *out = black_box(&bytes).iter().map(|byte| u32::from(*byte)).sum();
    }
}

/// Nothing that comes back to itself.
#[kernel]
pub fn flat(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[i.get()].wrapping_mul(3);
    }
}

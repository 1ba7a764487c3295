//! Recursion of every shape, by number: one kernel runs any of it, as deep as asked, and so does the CPU.
#![no_std]

extern crate alloc;

mod shapes;

use ptx::prelude::*;

pub use shapes::{SHAPES, run};

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

/// Nothing that comes back to itself.
#[kernel]
pub fn flat(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[i.get()].wrapping_mul(3);
    }
}

//! Variables that no device has room for are an error at their function.
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn table(seed: u32, at: usize) -> u32 { //~ ERROR: bytes of stack a thread
    let mut table = [seed; 200_000];
    for (number, value) in table.iter_mut().zip(seed..) {
        *number = value.wrapping_mul(*number);
    }
    core::hint::black_box(&mut table)[at]
}

#[kernel]
pub fn looks_up(seed: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = table(seed, i.get());
    }
}

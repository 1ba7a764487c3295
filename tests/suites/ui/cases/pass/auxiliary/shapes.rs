//! A dependency with a kernel of its own.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn from_dependency(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

pub fn corners(shape: u32) -> u32 {
    shape + 3
}

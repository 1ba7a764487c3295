//! A crate of another edition has kernels, too.
//@ edition: 2021
#![no_std]
use ptx::prelude::*;

// CHECK: .visible .entry of_2021(
#[kernel]
pub fn of_2021(mut out: DisjointSlice<u32>) {
    // `gen` is a keyword from 2024 on.
    let gen = thread::index_1d();
    if let Some(out) = out.get_mut(gen) {
        *out = 1;
    }
}

//! rustc's own errors keep their place inside a kernel.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(x: &[f32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()]; //~ ERROR: mismatched types
    }
}

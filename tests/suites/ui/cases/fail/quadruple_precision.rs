//! No GPU computes in 128 bits.
#![no_std]
#![feature(f128)]
use ptx::prelude::*;

#[inline(never)]
fn square(x: f64) -> f64 {
    (f128::from(x) * f128::from(x) + 2.0) as f64 //~ ERROR: 64 bits
}

#[kernel]
pub fn run(x: &[f64], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let x = x[i.get()];
        *out = (f128::from(x) * f128::from(x) + 1.0) as f64 + square(x); //~ ERROR: 64 bits
    }
}

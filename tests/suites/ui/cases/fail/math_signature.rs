//! C's mathematical functions need no crate, and are declared as C has them.
#![no_std]
use ptx::prelude::*;

unsafe extern "C" {
    safe fn sinf(x: f64) -> f64;
    safe fn exp(x: f64) -> f64;
}

#[kernel]
pub fn run(x: &[f64], mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = exp(x[i.get()]) + sinf(x[i.get()]); //~ ERROR: sinf
    }
}

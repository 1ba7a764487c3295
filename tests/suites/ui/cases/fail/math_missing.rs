//! The crate `libm`, which serves without libdevice, lacks some of its functions.
//@link-arg: --libdevice=off
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn quantile(x: f32) -> f32 {
    x.exp().normcdfinv() //~ ERROR: normcdfinv
}

#[kernel]
pub fn run(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = quantile(x[i.get()]);
    }
}

//! The crate `libm`, which serves without libdevice, lacks some of its functions.
//@link-arg: --libdevice=off
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()].exp().normcdfinv(); //~ ERROR: normcdfinv
    }
}

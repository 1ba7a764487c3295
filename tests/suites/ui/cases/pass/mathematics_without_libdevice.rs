//! Where libdevice is not wanted or not there, the crate `libm` serves, and what it calls is compiled with the rest: it
//! computes sines of single precision in double, without libdevice's table.
//@link-arg: --libdevice=off
#![no_std]
use ptx::prelude::*;

// CHECK-NOT: __cudart
// CHECK-LABEL: .visible .entry sine(
// CHECK: fma.rn.f64
#[kernel]
pub fn sine(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()].sin();
    }
}

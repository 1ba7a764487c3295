//! Mathematical functions under std's names, by libdevice; the modes of a function hold in them too.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry fast_sine(
// CHECK: sin.approx.ftz.f32
#[kernel]
#[ptx::float(use_fast_math = true)]
pub fn fast_sine(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()].sin();
    }
}

// CHECK-LABEL: .visible .entry root(
// CHECK: sqrt.rn.f32
// CHECK: cvt.rmi.f32.f32
// CHECK: fma.rn.f32
#[kernel]
pub fn root(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()].sqrt().floor().mul_add(2.0, 1.0);
    }
}

// CHECK-LABEL: .visible .entry sine(
// CHECK-NOT: sin.approx
// CHECK: fma.rn.f32
#[kernel]
pub fn sine(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()].sin();
    }
}

//! Iterator chains become plain loops, without calls.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry dot(
// CHECK: $L__BB{{.*}}:
// CHECK: ld.global.{{(nc\.)?[bf]}}32
// CHECK: fma.rn.f32
#[kernel]
pub fn dot(a: &[f32], b: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = a.iter().zip(b).skip(i.get()).step_by(2).map(|(a, b)| a * b).sum();
    }
}

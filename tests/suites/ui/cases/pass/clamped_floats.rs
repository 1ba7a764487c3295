//! Both halves of a float's `clamp` are instructions where no other zero and no other NaN could be seen.
//@arch: sm_90
#![no_std]
use ptx::prelude::*;

// A -0.0 stays one, and a NaN that was loaded, too.
// CHECK-LABEL: .visible .entry as_they_are(
// CHECK-NOT: .NaN
// CHECK: selp.f32
// CHECK-NOT: .NaN
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn as_they_are(x: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (out.get_mut(i), x.get(i.get())) {
        *out = x.clamp(0.0, 1.0);
    }
}

// CHECK-LABEL: .visible .entry within(
// CHECK-NOT: selp.f32
// CHECK: max.NaN.f32 {{.*}}, 0f00000000;
// CHECK: min.NaN.f32
// CHECK-NOT: selp.f32
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn within(x: &[f32], last: u32, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (out.get_mut(i), x.get(i.get())) {
        *out = (x - 0.5).clamp(0.0, last as f32);
    }
}

//! A choice between zeros of both signs is no minimum or maximum: LLVM selected `min.f32` for the first, which is -0.0 for
//! -0.0, of which Rust says that it is not less than 0.0. Where only one of them can be meant, it is one.
#![no_std]
use ptx::prelude::*;

// CHECK-NOT: min.f
// CHECK: .visible .entry case(
// CHECK-NOT: min.f
// CHECK: setp.geu.f32
// CHECK-NOT: min.f
// CHECK: max.f32
// CHECK-NOT: min.f
// CHECK: setp.geu.f64
// CHECK-NOT: min.f
#[kernel]
pub fn case(singles: &[f32], doubles: &[f64], mut out: DisjointSlice<[f64; 3]>) {
    let i = thread::index_1d();
    let (single, double) = (singles[i.get()], doubles[i.get()]);
    if let Some(out) = out.get_mut(i) {
        let below = if single < 0.0 { single } else { 0.0 };
        let above = if single > 0.0 { single } else { 0.0 };
        *out = [below.into(), if double < 0.0 { double } else { 0.0 }, above.into()];
    }
}

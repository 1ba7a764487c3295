//! Quotients of bytes are computed by floats: ptxas calls a function for each of 16 bits.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK-NOT: div.u
// CHECK-NOT: div.s
// CHECK: rcp.approx.ftz.f32
// CHECK: mul.rz.f32
// CHECK: add.rz.f32
// CHECK-NOT: div.u
// CHECK-NOT: rem.
#[kernel(dimensions = 1)]
pub fn case(x: &[u8], y: &[u8], mut out: DisjointSlice<[u8; 2]>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x), Some(y)) = (out.get_mut(i), x.get(i.get()), y.get(i.get())) {
        *out = [x / y, x % y];
    }
}

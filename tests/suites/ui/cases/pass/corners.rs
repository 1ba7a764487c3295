//! An index that the way by the checks has computed is computed behind it as well: LLVM would have the short way compute it too,
//! and move both to a register of 64 bits.
//@arch: sm_90
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK-COUNT-5: mul.wide.u32 {{%rd[0-9]+}}, {{%r[0-9]+}}, 4;
// CHECK-NOT: shl.b64
// CHECK: ret;
#[kernel(dimensions = 2)]
pub fn case(from: &[f32], width: u32, height: u32, mut to: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let [(left, right), (upper, lower)] = [(at.x() as u32 / 2, width), (at.y() as u32 / 2, height)]
        .map(|(place, len)| (place.min(len - 1), (place + 1).min(len - 1)));
    let pixel = |x: u32, y: u32| from[(y * width + x) as usize];
    *to = pixel(left, upper) + pixel(right, upper) + pixel(left, lower) + pixel(right, lower);
}

//! What a thread takes in place of a neighbour that is missing is chosen behind the loads, none of which waits for another.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_heat(
// CHECK: ld.global.nc.b32
// CHECK: ld.global.nc.b32
// CHECK: selp.f32
// CHECK: ld.global.nc.b32
// CHECK: selp.f32
// CHECK: ld.global.nc.b32
// CHECK: selp.f32
// CHECK: ld.global.nc.b32
// CHECK: selp.f32
#[kernel(dimensions = 2)]
pub fn a_heat(from: &[f32], rate: f32, mut to: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let (width, height) = (to.width(), to.height());
    let Some(to) = to.get_mut(at) else { return };
    let value = |x: usize, y: usize| from[y * width + x];
    let here = value(at.x(), at.y());
    let step = |position: usize, by: isize, end: usize| position.checked_add_signed(by).filter(|&next| next < end);
    let around = [
        step(at.x(), -1, width).map(|x| value(x, at.y())),
        step(at.y(), -1, height).map(|y| value(at.x(), y)),
        step(at.x(), 1, width).map(|x| value(x, at.y())),
        step(at.y(), 1, height).map(|y| value(at.x(), y)),
    ];
    *to = here + rate * around.map(|neighbour| neighbour.unwrap_or(here) - here).iter().sum::<f32>();
}

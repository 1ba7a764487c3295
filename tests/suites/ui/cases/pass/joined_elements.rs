//! An element of a plane that is stored: its row and column are added in 32 bits where they are small, then to the pointer.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK: setp.gt.u64 {{.*}}, 1073741823;
// CHECK: ld.global.nc.b32
// CHECK: mul.wide.u32 [[BYTES:%rd[0-9]+]], {{.*}}, 4;
// CHECK-NEXT: add.s64 [[AT:%rd[0-9]+]], {{%rd[0-9]+}}, [[BYTES]];
// CHECK-NEXT: st.global.b32 {{.*}}[[AT]]
#[kernel(dimensions = 2)]
pub fn case(from: &[f32], mut to: Disjoint2d<f32>) {
    let at = thread::index_2d();
    let (width, height) = (to.width(), to.height());
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let value = |x: usize, y: usize| from[y * width + x];
    let inner = (1..width - 1).contains(&x) && (1..height - 1).contains(&y);
    let around = if inner { value(x - 1, y) + value(x + 1, y) + value(x, y - 1) + value(x, y + 1) } else { 0.0 };
    *to = 0.5 * value(x, y) + 0.125 * around;
}

//! Pixels of three bytes, as arrays by value: each byte is loaded and stored by itself, and becomes a float, and one again, without
//! shifts in between.
#![no_std]
use core::array;

use ptx::prelude::*;

// CHECK-LABEL: .visible .entry brightened(
// CHECK: ld.global.nc.b8
// CHECK-NOT: shl.
// CHECK-NOT: shr.
// CHECK-NOT: prmt
// CHECK: cvt.rzi.u32.f32
// CHECK-NOT: shl.
// CHECK-NOT: shr.
// CHECK-NOT: prmt
// CHECK: st.global.b8
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn brightened(from: &[[u8; 3]], by: f32, mut to: DisjointSlice<[u8; 3]>) {
    let at = thread::index_1d();
    let pixel = from[at.get()];
    if let Some(to) = to.get_mut(at) {
        *to = pixel.map(|value| (f32::from(value) * by) as u8);
    }
}

// CHECK-LABEL: .visible .entry mixed(
// CHECK: ld.global.nc.b8
// CHECK-NOT: shr.u
// CHECK-NOT: bfe
// CHECK: cvt.rn.f32.u
// CHECK-NOT: shr.u
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn mixed(from: &[[u8; 3]], step: usize, part: f32, mut to: DisjointSlice<[f32; 3]>) {
    let at = thread::index_1d();
    let pixel = |i: usize| from[i];
    let pixels = [pixel(at.get()), pixel(at.get() + step)];
    if let Some(to) = to.get_mut(at) {
        *to = array::from_fn(|channel| {
            let [a, b] = pixels.map(|pixel| f32::from(pixel[channel]));
            a + part * (b - a)
        });
    }
}

//! Floats that become indices: 32 bits where nothing can tell these from 64.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

// A table of constant length.
// CHECK-LABEL: .visible .entry a_constant(
// CHECK-NOT: cvt.rzi.u64
// CHECK: cvt.rzi.u32.f32
// CHECK-NOT: cvt.rzi.u64
// CHECK-LABEL: .visible .entry b_image(
#[kernel(dimensions = 1)]
pub fn a_constant(x: &[f32], table: &[f32; 256], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (out.get_mut(i), x.get(i.get())) {
        *out = table[((x * 255.0) as usize).min(255)];
    }
}

// Kept within the image: the copy for images that are not large has 32 bits.
// CHECK: cvt.rzi.u32.f32
// CHECK: cvt.rzi.u32.f32
#[kernel(dimensions = 2)]
pub fn b_image(image: &[f32], width: usize, height: usize, scale: f32, mut to: Disjoint2d<f32>) {
    let at = thread::index_2d();
    if let Some(to) = to.get_mut(at) {
        let x = (at.x() as f32 * scale).clamp(0.0, (width - 1) as f32) as usize;
        let y = (at.y() as f32 * scale).clamp(0.0, (height - 1) as f32) as usize;
        *to = image[y * width + x];
    }
}

// All 64 bits are looked at.
// CHECK-LABEL: .visible .entry c_any(
// CHECK: cvt.rzi.u64.f32
#[kernel(dimensions = 1)]
pub fn c_any(x: &[f32], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let (Some(out), Some(x)) = (out.get_mut(i), x.get(i.get())) {
        *out = *x as u64;
    }
}

//! CUDA's vectors: one load and one store each, and parameters like nvcc's.
#![no_std]
use ptx::cooperative::{self, WarpGroup};
use ptx::PerWarp;
use ptx::prelude::*;
use ptx::vec::{Double3, Float2, Float4, Int4, LongLong2, UChar4, int4};

// CHECK-LABEL: .visible .entry pairs(
// CHECK: ld.global{{(.nc)?}}.v2.{{b32|f32}}
// CHECK: st.global.v2.{{b64|u64|s64}}
#[kernel]
pub fn pairs(x: &[Float2], mut y: DisjointSlice<LongLong2>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = LongLong2::new(x[i.get()].x as i64, x[i.get()].y as i64);
    }
}

// CHECK-LABEL: .visible .entry parameters(
// CHECK: .param .align 4 .b8 parameters_param_0[4],
// CHECK: .param .align 8 .b8 parameters_param_1[24],
#[kernel]
pub fn parameters(bytes: UChar4, place: Double3, mut out: DisjointSlice<Int4>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = int4(bytes[0].into(), bytes.y.into(), place.z as i32, -1) & 0xffff;
    }
}

// Rows of which each thread loads eight floats at a time: a copy for slices that begin at multiples of 16 bytes.
// CHECK-LABEL: .visible .entry row_sums(
// CHECK: and.b64 {{.*}}, 15;
// CHECK: ld.global{{(.nc)?}}.v4.{{b32|f32}}
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn row_sums(weights: &[u32], x: &[f32], mut y: PerWarp<f32>) {
    let mut part = y.part();
    let row = part.number();
    let words = x.len() / 8;
    let mut sum = 0.0;
    if let Some(weights) = weights.get(row * words..(row + 1) * words) {
        for at in (thread::lane_id() as usize..words).step_by(32) {
            let word = weights[at];
            sum += x[8 * at..8 * at + 8]
                .iter()
                .enumerate()
                .map(|(k, x)| ((word >> (4 * k) & 15) as i32 - 8) as f32 * x)
                .sum::<f32>();
        }
    }
    let sum = cooperative::tile::<32>().reduce(sum, |a, b| a + b);
    if let Some(y) = part.get_mut() {
        *y = sum;
    }
}

// CHECK-LABEL: .visible .entry scale(
// CHECK: .param .align 16 .b8 scale_param_0[16],
// CHECK: ld.global{{(.nc)?}}.v4.{{b32|f32}}
// CHECK: st.global.v4.{{b32|f32}}
#[kernel]
pub fn scale(by: Float4, x: &[Float4], mut y: DisjointSlice<Float4>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = by * x[i.get()] + 1.0;
    }
}

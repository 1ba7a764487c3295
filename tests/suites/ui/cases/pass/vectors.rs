//! CUDA's vectors: one load and one store each, and parameters like nvcc's.
#![no_std]
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

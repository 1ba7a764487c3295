//! 16-bit floats are CUDA's `__half` and `__nv_bfloat16`: structs of two bytes.
#![no_std]
use ptx::prelude::*;
use ptx::{bf16, f16};

// CHECK-LABEL: .visible .entry half(
// CHECK: .param .align 2 .b8 half_param_0[2],
// CHECK: .param .align 2 .b8 half_param_1[2],
#[kernel]
pub fn half(a: f16, b: bf16, mut out: DisjointSlice<f16>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = f16::from_f32(a.to_f32() + b.to_f32());
    }
}

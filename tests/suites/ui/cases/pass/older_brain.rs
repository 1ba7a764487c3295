//! On sm_80 `bf16` has fused operations alone: sums and products are those, as nvcc has them.
#![no_std]
use ptx::bf16;
use ptx::float::{Bf16x2, HalfArithmetic};
use ptx::prelude::*;

/// # Safety
/// `out` must point to a value.
// CHECK-LABEL: .visible .entry product(
// CHECK: mov.b32 c, 0x80008000; fma.rn.bf16x2
#[kernel]
pub unsafe fn product(out: *mut Bf16x2, a: Bf16x2) {
    // SAFETY: the caller's promise.
    unsafe { *out = a * a };
}

/// # Safety
/// `out` must point to a value.
// CHECK-LABEL: .visible .entry sum(
// CHECK: mov.b16 c, 0x3f80; fma.rn.bf16
#[kernel]
pub unsafe fn sum(out: *mut bf16, a: bf16, b: bf16) {
    // SAFETY: the caller's promise.
    unsafe { *out = a.add_rn(b) };
}

//! On sm_80 `bf16` has fused operations alone: sums and products are those, as nvcc has them.
#![no_std]
use ptx::bf16;
use ptx::float::{Bf16x2, HalfArithmetic};
use ptx::prelude::*;

/// # Safety
/// Both must point to a value.
// CHECK-LABEL: .visible .entry run(
// CHECK-DAG: mov.b16 c, 0x3f80; fma.rn.bf16
// CHECK-DAG: mov.b32 c, 0x80008000; fma.rn.bf16x2
// CHECK: ret;
#[kernel]
pub unsafe fn run(out: *mut bf16, pair: *mut Bf16x2, a: bf16, b: bf16, c: Bf16x2) {
    // SAFETY: the caller's promise.
    unsafe {
        *out = a.add_rn(b);
        *pair = c * c;
    }
}

//! What `ptx::arch()` leaves out need not exist, without optimisation either.
//@opt-level: 0
#![no_std]
use ptx::float::TensorRounding;
use ptx::prelude::*;

// CHECK-NOT: cvt.rz.tf32.f32
// CHECK: cvt.rna.tf32.f32
// CHECK-NOT: cvt.rz.tf32.f32
/// # Safety
/// `out` must point to a value.
#[kernel]
pub unsafe fn run(out: *mut f32, x: f32) {
    let rounded = if ptx::arch() >= 900 { x.to_tf32_rz() } else { x.to_tf32_rna() };
    // SAFETY: the caller's promise.
    unsafe { *out = rounded };
}

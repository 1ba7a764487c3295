//! Operations with their rounding are the instruction of that name: nothing fuses them, equal ones are computed once, and
//! unused ones not at all.
#![no_std]
use ptx::float::*;
use ptx::prelude::*;

/// # Safety
/// `out` must point to a value.
// CHECK-LABEL: .visible .entry forms(
// CHECK: div.rp.ftz.f32
// CHECK: sub.rm.ftz.sat.f32
// CHECK: cvt.rni.s32.f32
#[kernel]
pub unsafe fn forms(out: *mut i32, a: f32, b: f32) {
    // SAFETY: the caller's promise.
    unsafe { *out = a.div_ru_ftz(b).sub_rd_ftz_sat(b).to_i32_rn() };
}

/// # Safety
/// `out` must point to a value.
// CHECK-LABEL: .visible .entry once(
// CHECK: rcp.rz.f64
// CHECK-NOT: rcp
// CHECK: ret;
#[kernel]
pub unsafe fn once(out: *mut f64, a: f64) {
    // SAFETY: the caller's promise.
    unsafe { *out = a.rcp_rz().add_rz(a.rcp_rz()) };
}

/// # Safety
/// `out` must point to a value.
// CHECK-LABEL: .visible .entry packed(
// CHECK: fma.rn.relu.f16x2
// CHECK: mul.rn.ftz.f16x2
#[kernel]
pub unsafe fn packed(out: *mut F16x2, a: F16x2) {
    // SAFETY: the caller's promise.
    unsafe { *out = a.fma_rn_relu(a, a).mul_rn_ftz(a) };
}

/// # Safety
/// `out` must point to a value.
// CHECK-LABEL: .visible .entry separate(
// CHECK: mul.rn.f32
// CHECK-NOT: fma
// CHECK: add.rn.f32
// CHECK-NOT: rcp
// CHECK: ret;
#[kernel]
pub unsafe fn separate(out: *mut f32, a: f32, b: f32, c: f32) {
    let _unused = a.rcp_ru();
    // SAFETY: the caller's promise.
    unsafe { *out = a.mul_rn(b).add_rn(c) };
}

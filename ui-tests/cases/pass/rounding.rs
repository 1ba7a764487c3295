//! Operations with their rounding are the instruction of that name: nothing fuses them, and equal ones are computed once.
#![no_std]
use ptx::float::*;
use ptx::prelude::*;

/// # Safety
/// `out` must have five elements.
// CHECK-LABEL: .visible .entry run(
// CHECK-NOT: fma
// CHECK-DAG: mul.rn.f32
// CHECK-DAG: add.rn.f32
// CHECK-DAG: div.rp.ftz.f32
// CHECK-DAG: sub.rm.ftz.sat.f32
// CHECK-DAG: cvt.rni.s32.f32
// CHECK-DAG: rcp.rz.f32
// CHECK-NOT: rcp
// CHECK: ret;
#[kernel]
pub unsafe fn run(out: *mut f32, a: f32, b: f32, c: f32) {
    // SAFETY: the caller's promise.
    unsafe {
        *out = a.mul_rn(b).add_rn(c);
        *out.add(1) = a.div_ru_ftz(c);
        *out.add(2) = a.sub_rd_ftz_sat(b);
        *out.add(3) = f32::from_bits(b.to_i32_rn().cast_unsigned());
        let (first, second) = (c.rcp_rz(), c.rcp_rz());
        *out.add(4) = if first == second { first } else { 0.0 };
        let _unused = a.rcp_ru();
    }
}

/// # Safety
/// Both must point to a value.
// CHECK-LABEL: .visible .entry packed(
// CHECK: fma.rn.relu.f16x2
// CHECK: cvt.rn.bf16x2.f32
#[kernel]
pub unsafe fn packed(a: F16x2, x: f32, out: *mut F16x2, pairs: *mut Bf16x2) {
    // SAFETY: as above.
    unsafe {
        *out = a.fma_rn_relu(a, a);
        *pairs = Bf16x2::from_f32_rn(x, -x);
    }
}

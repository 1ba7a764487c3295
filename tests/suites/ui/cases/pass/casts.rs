//! `as` saturates from floating point to integers, as `cvt` does; other casts round or cut.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry casts(
// CHECK-NOT: bra
// CHECK-NOT: setp
// CHECK: cvt.rzi.s32.f32
// CHECK: cvt.rzi.u32.f32
// CHECK: cvt.rn.f32.f64
// CHECK: cvt.rn.f32.s32
// CHECK: cvt.rn.f64.u64
// CHECK: cvt.rzi.s64.f64
// CHECK: cvt.s32.s8
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn casts(f: f32, d: f64, i: i32, u: u64, out: *mut u64) {
    unsafe {
        out.write_volatile(f as i32 as u64);
        out.write_volatile((f as u32).into());
        out.write_volatile((d as f32).to_bits().into());
        out.write_volatile((i as f32).to_bits().into());
        out.write_volatile((u as f64).to_bits());
        out.write_volatile(d as i64 as u64);
        out.write_volatile(i as i8 as i32 as u32 as u64);
    }
}

//! Least, greatest and absolute values are instructions, no branches.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry clamps(
// CHECK-NOT: bra
// CHECK: min.s32
// CHECK: max.s32 {{.*}}, 0;
// CHECK: min.u32 {{.*}}, 9;
// CHECK: not.b32 %negative, {{.*}}; add.s32 %negative, %negative, 1; max.s32
// CHECK: min.f32
// CHECK: max.f32
// CHECK: and.b32 {{.*}}, 2147483647;
// CHECK: max.s32 {{.*}}, 1;
// CHECK: min.s32 {{.*}}, 9;
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn clamps(x: i32, y: i32, u: u32, f: f32, g: f32, out: *mut i32) {
    unsafe {
        out.write_volatile(x.min(y));
        out.write_volatile(x.max(0));
        out.write_volatile(u.min(9) as i32);
        out.write_volatile(x.wrapping_abs());
        out.write_volatile(f.min(g).to_bits() as i32);
        out.write_volatile(f.max(g).to_bits() as i32);
        out.write_volatile(f.abs().to_bits() as i32);
        out.write_volatile(x.clamp(1, 9));
    }
}

// CHECK-LABEL: .visible .entry saturating(
// CHECK-NOT: bra
// CHECK: min.u32
// CHECK: max.u32
// CHECK: mul.hi.u32
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn saturating(a: u32, b: u32, out: *mut u32) {
    unsafe {
        out.write_volatile(a.saturating_add(b));
        out.write_volatile(a.saturating_sub(b));
        out.write_volatile((u64::from(a) * u64::from(b) >> 32) as u32);
    }
}

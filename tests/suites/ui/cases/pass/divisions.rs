//! Dividing by a constant needs no division; dividing by what may be zero is checked.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_by_constants(
// CHECK-NOT: div
// CHECK: mul.hi.u32
// CHECK-NOT: div
// CHECK: and.b32 {{.*}}, 7;
// CHECK: shr.s32 {{.*}}, 4;
// CHECK: mul.hi.u64
// CHECK-NOT: div
// CHECK: ret;
#[kernel]
pub unsafe fn a_by_constants(x: u32, y: i32, z: u64, out: *mut u32) {
    unsafe {
        out.write_volatile(x / 7);
        out.write_volatile(x % 8);
        out.write_volatile((y / 16) as u32);
        out.write_volatile((z / 10) as u32);
    }
}

// CHECK-LABEL: .visible .entry b_by_a_number(
// CHECK: setp.ne.s32
// CHECK: div.u32
// CHECK: ret;
// CHECK: ld.const.u64 {{.*}}, [__ptx_panic];
#[kernel]
pub unsafe fn b_by_a_number(x: u32, y: u32, out: *mut u32) {
    unsafe { *out = x / y }
}

// CHECK-LABEL: .visible .entry c_not_by_zero(
// CHECK-NOT: setp
// CHECK: div.u32
// CHECK-NOT: call
// CHECK: ret;
#[kernel]
pub unsafe fn c_not_by_zero(x: u32, y: u32, out: *mut u32) {
    unsafe { *out = x / (y | 1) }
}

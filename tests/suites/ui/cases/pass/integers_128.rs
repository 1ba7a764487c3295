//! 128-bit integers are pairs of 64-bit registers, loaded and stored at once; carries go from one to the other.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_sum(
// CHECK: ld.global.v2.b64 {[[AL:%rd[0-9]+]], [[AH:%rd[0-9]+]]}
// CHECK: ld.global.v2.b64 {[[BL:%rd[0-9]+]], [[BH:%rd[0-9]+]]}
// CHECK: add.cc.s64 [[L:%rd[0-9]+]], [[BL]], [[AL]];
// CHECK: addc.cc.s64 [[H:%rd[0-9]+]], [[BH]], [[AH]];
// CHECK: st.global.v2.b64 [{{.*}}], {[[L]], [[H]]};
#[kernel]
pub unsafe fn a_sum(a: *const u128, b: *const u128, out: *mut u128) {
    unsafe { *out = (*a).wrapping_add(*b) }
}

// CHECK-LABEL: .visible .entry b_product(
// CHECK: mul.hi.u64
// CHECK-COUNT-2: mad.lo.s64
// CHECK: mul.lo.s64
// CHECK-NOT: call
#[kernel]
pub unsafe fn b_product(a: *const u128, b: *const u128, out: *mut u128) {
    unsafe { *out = (*a).wrapping_mul(*b) }
}

// CHECK-LABEL: .visible .entry c_wide_product(
// CHECK: mul.hi.u64
// CHECK-NOT: mad
// CHECK-NOT: call
#[kernel]
pub unsafe fn c_wide_product(a: u64, b: u64, out: *mut u64) {
    unsafe { *out = (u128::from(a) * u128::from(b) >> 64) as u64 }
}

// CHECK-LABEL: .visible .entry d_shift(
// CHECK-COUNT-2: shf.l.wrap.b32
// CHECK: shr.u64 {{.*}}, 3;
#[kernel]
pub unsafe fn d_shift(a: *const u128, out: *mut u128) {
    unsafe { *out = *a >> 3 }
}

// CHECK-LABEL: .visible .entry e_order(
// CHECK: setp.lt.u64
// CHECK: setp.eq.s64
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn e_order(a: *const u128, b: *const u128, out: *mut bool) {
    unsafe { *out = *a < *b }
}

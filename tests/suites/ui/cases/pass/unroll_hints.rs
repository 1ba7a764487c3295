//! Loops are unrolled as their hints say, and those around them are not.
//@ link-arg: --panic=trap
#![no_std]
use ptx::hint::{self, Unroll as _};
use ptx::prelude::*;

// Two in the loop, and one for what is left over.
// CHECK-LABEL: .visible .entry a_by_two(
// CHECK-COUNT-3: fma.rn.f32
// CHECK-NOT: fma
// CHECK-NOT: __ptx_unroll
// CHECK: ret;
#[kernel]
pub unsafe fn a_by_two(x: &[f32], out: *mut f32) {
    let mut value = 0.0;
    for x in x.iter().unroll::<2>() {
        value = value * *x + 1.0;
    }
    unsafe { *out = value }
}

// CHECK-LABEL: .visible .entry b_by_sixteen(
// CHECK-COUNT-17: fma.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
#[kernel]
pub unsafe fn b_by_sixteen(x: &[f32], out: *mut f32) {
    let mut value = 0.0;
    for x in x.iter().unroll::<16>() {
        value = value * *x + 1.0;
    }
    unsafe { *out = value }
}

// A loop that may panic keeps every check: here four for indices of 32 bits, and four in the copy for large ones.
// CHECK-LABEL: .visible .entry c_with_checks(
// CHECK-COUNT-8: fma.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
#[kernel]
pub unsafe fn c_with_checks(x: &[f32], n: usize, stride: usize, out: *mut f32) {
    let mut value = 0.0;
    for i in (0..n).unroll::<4>() {
        value = value * x[i * stride] + 1.0;
    }
    unsafe { *out = value }
}

// CHECK-LABEL: .visible .entry d_full(
// CHECK-NOT: bra
// CHECK-COUNT-300: fma.rn.f32
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn d_full(x: &[f32; 300], out: *mut f32) {
    let mut value = 0.0;
    for x in x.iter().unroll_full() {
        value = value * *x + 1.0;
    }
    unsafe { *out = value }
}

// CHECK-LABEL: .visible .entry e_none(
// CHECK: add.f32
// CHECK-NOT: add.f32
// CHECK: ret;
#[kernel]
pub unsafe fn e_none(x: *const f32, n: u32, out: *mut f32) {
    let mut sum = 0.0;
    for i in (0..n as usize).unroll_none() {
        sum += unsafe { *x.add(i) };
    }
    unsafe { *out = sum }
}

// rustc has unrolled the inner loop; the hint does not go to the outer one.
// CHECK-LABEL: .visible .entry f_nested(
// CHECK-COUNT-3: fma.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
#[kernel]
pub unsafe fn f_nested(x: &[[f32; 3]], out: *mut f32) {
    let mut value = 0.0;
    for x in x {
        for x in x.iter().unroll::<64>() {
            value = value * *x + 1.0;
        }
    }
    unsafe { *out = value }
}

// CHECK-LABEL: .visible .entry g_while(
// CHECK-COUNT-4: and.b32
// CHECK-NOT: and.b32
// CHECK: ret;
#[kernel]
pub unsafe fn g_while(mut n: u32, out: *mut u32) {
    let (hint, mut steps) = (hint::unroll_loop::<4>(), 0);
    while n != 1 {
        hint.round();
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    unsafe { *out = steps }
}

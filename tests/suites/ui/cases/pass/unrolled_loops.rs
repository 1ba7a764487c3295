//! A loop of a few rounds is straight code; a long one is unrolled in part.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry few(
// CHECK-NOT: bra
// CHECK-COUNT-4: fma.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
#[kernel]
pub unsafe fn few(x: *const [f32; 4], y: *const [f32; 4], out: *mut f32) {
    let mut sum = 0.0;
    for i in 0..4 {
        sum += unsafe { (*x)[i] * (*y)[i] };
    }
    unsafe { *out = sum }
}

// A copy of it loads vectors, where `x` is aligned.
// CHECK-LABEL: .visible .entry many(
// CHECK: setp.lt.u32
// CHECK: [[LOOP:[$]L_.*]]:
// CHECK-COUNT-4: add.f32
// CHECK: bra [[LOOP]];
// CHECK: .pragma "nounroll";
// CHECK: ld.global.v{{[24]}}.b32
#[kernel]
pub unsafe fn many(x: *const f32, n: u32, out: *mut f32) {
    let mut sum = 0.0;
    for i in 0..n as usize {
        sum += unsafe { *x.add(i) };
    }
    unsafe { *out = sum }
}

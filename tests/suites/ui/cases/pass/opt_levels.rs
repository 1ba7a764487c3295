//! Every level of optimisation gives PTX that ptxas takes; without it variables are in memory and calls are calls.
//@ revisions: o0 o1 o2 o3 os oz
//@[o0] opt-level: 0
//@[o1] opt-level: 1
//@[o2] opt-level: 2
//@[o3] opt-level: 3
//@[os] opt-level: s
//@[oz] opt-level: z
#![no_std]
use ptx::prelude::*;

fn square(x: u32) -> u32 {
    x.wrapping_mul(x)
}

// CHECK-LABEL: .visible .entry squares(
// O0: call.uni
// O1: mul.lo.s32
// O2: mul.lo.s32
// O3: mul.lo.s32
// OS: mul.lo.s32
// OZ: mul.lo.s32
// CHECK: ret;
#[kernel]
pub unsafe fn squares(x: u32, out: *mut u32) {
    unsafe { *out = square(x) }
}

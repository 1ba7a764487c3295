//! One source for GPUs of several generations: ptxas takes each, and the cubin says which one it is for.
//@ revisions: sm_75 sm_80 sm_90 sm_100 sm_120
//@[sm_75] arch: sm_75
//@[sm_80] arch: sm_80
//@[sm_90] arch: sm_90
//@[sm_100] arch: sm_100
//@[sm_120] arch: sm_120
#![no_std]
use ptx::prelude::*;

// SM_75: .target sm_75
// SM_80: .target sm_80
// SM_90: .target sm_90
// SM_100: .target sm_100
// SM_120: .target sm_120
// SASS(sm_75): .target sm_75
// SASS(sm_80): .target sm_80
// SASS(sm_90): .target sm_90
// SASS(sm_100): .target sm_100
// SASS(sm_120): .target sm_120
// SASS: .text.increment:
// SASS: FFMA
// SASS: EXIT
#[kernel]
pub unsafe fn increment(x: *mut f32, a: f32, b: f32) {
    unsafe { *x = a * *x + b }
}

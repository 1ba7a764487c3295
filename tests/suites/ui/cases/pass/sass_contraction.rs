//! A product and a sum are one instruction of the GPU, or two: as the modes say, and in single and double precision.
//@ revisions: fused separate
//@[separate] float: fmad=false
#![no_std]
use ptx::prelude::*;

// FUSED-LABEL: .visible .entry a_single(
// FUSED: fma.rn.f32
// SEPARATE-LABEL: .visible .entry a_single(
// SEPARATE: mul.rn.f32
// SEPARATE: add.rn.f32
// SASS-LABEL: .text.a_single:
// SASS-NOT(fused): {{FMUL|FADD}}
// SASS(fused): FFMA R
// SASS-NOT(separate): FFMA
// SASS(separate): FMUL R
// SASS-NOT(separate): FFMA
// SASS(separate): FADD R
// SASS: EXIT
#[kernel]
pub unsafe fn a_single(a: f32, b: f32, c: f32, out: *mut f32) {
    unsafe { *out = a * b + c }
}

// SASS-LABEL: .text.b_double:
// SASS-NOT(separate): DFMA
// SASS(fused): DFMA
// SASS(separate): DMUL
// SASS(separate): DADD
// SASS: EXIT
#[kernel]
pub unsafe fn b_double(a: f64, b: f64, c: f64, out: *mut f64) {
    unsafe { *out = a * b + c }
}

//! What fast mathematics does to the machine code: subnormal numbers flushed, the special function unit alone.
//@ revisions: exact ftz fast
//@[ftz] float: ftz=true
//@[fast] float: use-fast-math
#![no_std]
use ptx::prelude::*;

// SASS-LABEL: .text.a_sum:
// SASS(exact): FADD R
// SASS(ftz, fast): FADD.FTZ R
// SASS: EXIT
#[kernel]
pub unsafe fn a_sum(a: f32, b: f32, out: *mut f32) {
    unsafe { *out = a + b }
}

// SASS-LABEL: .text.b_root:
// SASS(exact, ftz): MUFU.RSQ
// SASS(exact, ftz): FFMA
// SASS-NOT(fast): FFMA
// SASS(fast): MUFU.SQRT
// SASS-NOT(fast): FFMA
// SASS: EXIT
#[kernel]
pub unsafe fn b_root(a: f32, out: *mut f32) {
    unsafe { *out = a.sqrt() }
}

// SASS-LABEL: .text.c_quotient:
// SASS: MUFU.RCP
// SASS(exact): FCHK
// SASS-NOT(fast): FCHK
// SASS(fast): FMUL.FTZ
// SASS-NOT(fast): {{FCHK|FFMA}}
// SASS: EXIT
#[kernel]
pub unsafe fn c_quotient(a: f32, b: f32, out: *mut f32) {
    unsafe { *out = a / b }
}

// SASS-LABEL: .text.d_sine:
// SASS-NOT(exact, ftz): MUFU.SIN
// SASS-NOT(fast): BRA `(.L
// SASS(fast): MUFU.SIN
// SASS: EXIT
#[kernel]
pub unsafe fn d_sine(a: f32, out: *mut f32) {
    unsafe { *out = a.sin() }
}

// SASS-LABEL: .text.e_power:
// SASS: MUFU.EX2
// SASS: EXIT
#[kernel]
pub unsafe fn e_power(a: f32, out: *mut f32) {
    unsafe { *out = a.exp2() }
}

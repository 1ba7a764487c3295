//! The build's floating-point modes: the instructions are those that nvcc 13.0 writes with the same options.
//@revisions: plain fmad ftz div root both fast mixed
//@[fmad] float: fmad=false
//@[ftz] float: ftz=true
//@[div] float: prec-div=false
//@[root] float: prec-sqrt=false
//@[both] float: prec-div=false prec-sqrt=false
//@[fast] float: use-fast-math
//@[mixed] float: ftz=true fmad=false
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry alone(
// CHECK(plain): add.f32
// CHECK(fmad): add.rn.f32
// CHECK(fast): add.ftz.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn alone(a: f32, b: f32, out: *mut f32) {
    unsafe { *out = a + b }
}

// CHECK-LABEL: .visible .entry difference(
// CHECK(plain): mul.f32
// CHECK(plain): sub.f32
// CHECK(fmad): mul.rn.f32
// CHECK(fmad): sub.rn.f32
// CHECK(fast): mul.ftz.f32
// CHECK(fast): sub.ftz.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn difference(a: f32, b: f32, c: f32, out: *mut f32) {
    unsafe { *out = a * b - c }
}

// CHECK-LABEL: .visible .entry double(
// CHECK-NOT: ftz
// CHECK(plain): fma.rn.f64
// CHECK(fmad): mul.rn.f64
// CHECK(fmad): add.rn.f64
// CHECK(fast): fma.rn.f64
// CHECK(fast): div.rn.f64
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn double(a: f64, b: f64, c: f64, out: *mut f64) {
    unsafe { *out = (a * b + c) / b }
}

// CHECK-LABEL: .visible .entry quotient(
// CHECK(plain): div.rn.f32
// CHECK(ftz): div.rn.ftz.f32
// CHECK(div): div.full.f32
// CHECK(fast): div.approx.ftz.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn quotient(a: f32, b: f32, out: *mut f32) {
    unsafe { *out = a / b }
}

// CHECK-LABEL: .visible .entry reciprocal(
// CHECK(plain): rcp.rn.f32
// CHECK(div): rcp.approx.f32
// CHECK(fast): rcp.approx.ftz.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn reciprocal(a: f32, out: *mut f32) {
    unsafe { *out = 1.0 / a }
}

// CHECK-LABEL: .visible .entry smaller(
// CHECK(plain): setp.{{[lg]}}t.f32
// CHECK(ftz): setp.{{[lg]}}t.ftz.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn smaller(a: f32, b: f32, out: *mut f32) {
    unsafe { *out = if a < b { a } else { 1.0 } }
}

// CHECK-LABEL: .visible .entry sum(
// CHECK(plain): fma.rn.f32
// CHECK(fmad): mul.rn.f32
// CHECK(fmad): add.rn.f32
// CHECK(ftz): fma.rn.ftz.f32
// CHECK(mixed): mul.rn.ftz.f32
// CHECK(mixed): add.rn.ftz.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn sum(a: f32, b: f32, c: f32, out: *mut f32) {
    unsafe { *out = a * b + c }
}

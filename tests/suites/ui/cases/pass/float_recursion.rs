//! What is not inlined is there once for each set of modes under which it is called.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .func  (.param .b32 func_retval0) _R{{[A-Za-z0-9_]*}}5power(
// CHECK: mul.f32
// CHECK: ret;
fn power(x: f32, n: u32) -> f32 {
    if n == 0 { 1.0 } else { x * power(x, n / 2) * power(x, n - n / 2 - 1) }
}

// CHECK-LABEL: .visible .entry flushing(
#[kernel]
#[ptx::float(ftz = true)]
pub unsafe fn flushing(out: *mut f32, x: f32, n: u32) {
    unsafe { *out = power(x, n) }
}

// CHECK-LABEL: .visible .entry plain(
// CHECK: .func  (.param .b32 func_retval0) _R{{[A-Za-z0-9_]*}}5power_$_float{{.*}}(
// CHECK: mul.ftz.f32
// CHECK-NOT: mul.f32
#[kernel]
pub unsafe fn plain(out: *mut f32, x: f32, n: u32) {
    unsafe { *out = power(x, n) }
}

//! Unoptimised code has no hints, and no calls that stood for them.
//@ debug: full
//@ emit: llvm-ir
#![no_std]
use ptx::hint::Unroll as _;
use ptx::prelude::*;

// CHECK: define {{.*}}ptx_kernel void @sum(
// CHECK-NOT: call {{.*}}@__ptx_unroll
#[kernel]
pub unsafe fn sum(x: &[f32], out: *mut f32) {
    let mut value = 0.0;
    for x in x.iter().unroll::<2>() {
        value = value * *x + 1.0;
    }
    unsafe { *out = value }
}

//! What libdevice computes of constants is a constant, also where it takes numbers apart. ptxas folded that in LLVM's
//! place, and crashed over functions that are called by pointer and had no call left then.
//@ arch: sm_90
#![no_std]
use ptx::math::Math;
use ptx::prelude::*;

// CHECK-LABEL: .func  (.param .b32 func_retval0) {{\w+}}area(
// CHECK-NOT: call
// CHECK-NOT: setp
// CHECK: ret;
fn area() -> u32 {
    let zero = Math::atanh(-0.0f64);
    if zero.to_bits() == (-0.0f64).to_bits() { 1 } else { different(zero) }
}

fn three() -> u32 {
    3
}

#[inline(never)]
fn different(number: f64) -> u32 {
    panic!("{number:?}")
}

#[kernel]
pub fn case(which: usize, mut out: DisjointSlice<u32>) {
    let checks: [fn() -> u32; 2] = [area, three];
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = checks[which & 1]();
    }
}

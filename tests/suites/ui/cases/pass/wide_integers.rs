//! 128-bit integers are passed as 16 bytes and computed without calls to the host's runtime.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry divide(
#[kernel]
pub fn divide(a: u128, mut out: DisjointSlice<u128>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if *out == 0 { 0 } else { a / *out + a % *out };
    }
}

// CHECK-LABEL: .visible .entry wide(
// CHECK: .param .align 16 .b8 wide_param_0[16],
// CHECK: mul.hi.u64
#[kernel]
pub fn wide(a: u128, mut out: DisjointSlice<u128>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = out.wrapping_mul(a);
    }
}

//! The example of the PTX Writer's Guide to Interoperability (12.8, chapter 6) in Rust: the same names, `_Z3fooii` and
//! `_Z4testPi`, and the same parameters.
#![cfg_attr(target_arch = "nvptx64", no_std)]
use ptx::prelude::*;

/// `__device__ int foo(int i, int j)`
#[device(export = "C++")]
pub fn foo(i: i32, j: i32) -> i32 {
    i + j
}

/// `__global__ void test(int *p)`
///
/// # Safety
/// `p` must point to an `i32` that nobody else uses meanwhile.
#[kernel(export = "C++")]
pub unsafe fn test(p: *mut i32) {
    // SAFETY: the caller's promise.
    unsafe { *p = foo(1, 2) };
}

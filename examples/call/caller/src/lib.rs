//! `test` in Rust; the function that it calls is CUDA C++.
#![cfg_attr(target_arch = "nvptx64", no_std)]
use ptx::prelude::*;

#[device(import)]
unsafe extern "C++" {
    /// `__device__ int foo(int i, int j)`, which any two numbers suit.
    safe fn foo(i: i32, j: i32) -> i32;
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

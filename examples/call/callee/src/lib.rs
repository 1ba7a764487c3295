//! `foo` in Rust; its caller is CUDA C++.
#![cfg_attr(target_arch = "nvptx64", no_std)]
use ptx::prelude::*;

/// `__device__ int foo(int i, int j)`
#[device(export = "C++")]
pub fn foo(i: i32, j: i32) -> i32 {
    i + j
}

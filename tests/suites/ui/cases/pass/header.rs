//! The C++ header names kernels, exported functions and their types.
//@ emit: header
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub struct Pair {
    first: u32,
    second: f32,
}

// CHECK: #ifndef PTX_HEADER_H
// CHECK: struct Pair {
// CHECK-NEXT: unsigned int first;
// CHECK-NEXT: float second;
// CHECK: sizeof(Pair) == 8
// CHECK-DAG: __device__ unsigned int exported(Pair pair);
// CHECK-DAG: __global__ void launched(Pair pair, unsigned int *out);
#[ptx::device(export)]
pub fn exported(pair: Pair) -> u32 {
    pair.first
}

#[kernel]
pub unsafe fn launched(pair: Pair, out: *mut u32) {
    unsafe { *out = exported(pair) }
}

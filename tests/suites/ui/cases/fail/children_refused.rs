//! Kernels that cannot be launched by kernels.
#![no_std]
use ptx::prelude::*;

#[kernel(child, export = "C++")] //~ ERROR: a kernel that kernels launch has a plain name
pub fn mangled(x: u32) {
    let _ = x;
}

#[kernel(child, instantiate(u32, f32))] //~ ERROR: the instances of a generic kernel cannot be launched by kernels yet
pub fn generic<T: AbiType>(x: T) {
    let _ = x;
}

//! Kernels that are compiled for clusters, on a GPU that has none. LLVM would leave the clusters out.
//@arch: sm_80
#![no_std]
use ptx::prelude::*;

#[kernel(cluster(2))]
pub fn fixed() {} //~ ERROR: sm_80 has no clusters of blocks

#[kernel(launch_bounds(256, 1, 4))]
pub fn bounded() {} //~ ERROR: sm_80 has no clusters of blocks

#[kernel(cooperative)]
pub fn cooperative() {}

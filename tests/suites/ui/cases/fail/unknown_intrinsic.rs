//! A name that is kept for intrinsics but is none.
#![no_std]
use ptx::prelude::*;

unsafe extern "C" {
    safe fn __ptx_warp_factor() -> u32;
}

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = __ptx_warp_factor(); //~ ERROR: __ptx_warp_factor
    }
}

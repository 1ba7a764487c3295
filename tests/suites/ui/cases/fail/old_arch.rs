//! A GPU that LLVM does not support any more.
//@arch: sm_61
//@error-in-other-file: older than sm_70
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

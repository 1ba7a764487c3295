//! A GPU that nobody knows.
//@arch: sm_999
//@error-in-other-file: unknown arch `sm_999`
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

//! A misspelled option of the linker.
//@link-arg: --archs=sm_80
//@error-in-other-file: --archs
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

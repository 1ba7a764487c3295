//! A strategy for the panics of a crate that is not in the build.
//@link-arg: --panic-for=sha3=trap
//@error-in-other-file: `sha3`
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

//! A crate without a strategy for its panics.
//@link-arg: --panic-for=sha2
//@error-in-other-file: --panic-for
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

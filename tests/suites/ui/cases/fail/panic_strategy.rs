//! A strategy for panics that there is not.
//@link-arg: --panic=silent
//@error-in-other-file: --panic
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

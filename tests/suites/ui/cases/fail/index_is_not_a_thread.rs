//! A disjoint slice gives an element to the thread whose index it is, not to whoever names a number.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(0) { //~ ERROR: mismatched types
        *out = 1;
    }
}

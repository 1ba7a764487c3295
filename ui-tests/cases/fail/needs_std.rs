//! A crate that needs `std`. //~ ERROR: can't find crate for `std`
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {}

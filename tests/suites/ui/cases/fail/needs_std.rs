//! A crate that needs `std`.
//~^ ERROR: can't find crate for `std`
//~| ERROR: cannot resolve a prelude import
use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {}

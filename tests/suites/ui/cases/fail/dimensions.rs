//! A launch has one to three dimensions, and each form of index takes its own.
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;

#[kernel(dimensions = 4)] //~ ERROR: a launch has 1 to 3 dimensions
pub fn four(mut out: DisjointSlice<u32>) {}

#[kernel]
pub fn wrong_index(mut out: Disjoint2d<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) { //~ ERROR: mismatched types
        *out = 1;
    }
}

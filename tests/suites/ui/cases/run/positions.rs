//! Where a thread stands in the grid.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run: 3 2
//@ expect: 302000 302001 302100 302101 302200 302201
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let (block, threads) = (thread::block_idx_x(), thread::block_dim_x());
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = thread::grid_dim_x() * 100_000 + threads * 1000 + block * 100 + thread::thread_idx_x();
    }
}

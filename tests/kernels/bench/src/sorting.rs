//! Sorting and searching.

use ptx::prelude::*;

/// One step of a bitonic sort: each thread finds its own element of the result.
#[kernel]
pub fn bitonic_step(from: &[u32], distance: usize, length: usize, mut to: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(to) = to.get_mut(i) {
        let i = i.get();
        let (mine, other) = (from[i], from[i ^ distance]);
        let is_first = i & distance == 0;
        let ascends = i & length == 0;
        *to = if is_first == ascends { mine.min(other) } else { mine.max(other) };
    }
}

/// How many elements of a sorted slice are below each key.
#[kernel]
pub fn binary_search(sorted: &[u32], keys: &[u32], mut ranks: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(rank) = ranks.get_mut(i) {
        let key = keys[i.get()];
        *rank = sorted.partition_point(|element| *element < key) as u32;
    }
}

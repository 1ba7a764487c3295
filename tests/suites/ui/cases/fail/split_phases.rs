//! What only one phase of a split tile and of a cluster's tiles has; and what cannot lie where threads of several blocks
//! reach it.
#![no_std]
use ptx::atomic::{Atomic, Block};
use ptx::prelude::*;
use ptx::shared::{ClusterTile, SplitTile};

#[kernel]
pub fn read_too_early(mut out: DisjointSlice<u32>, #[shared] tile: SplitTile<[u32; 4]>) {
    let published = tile.publish();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = published[0]; //~ ERROR: cannot index into a value of type
    }
}

#[kernel]
pub fn write_after_arrival(#[shared] tile: SplitTile<[u32; 4]>) {
    let mut published = tile.publish();
    published.own().set(1); //~ ERROR: no method named `own`
}

#[kernel]
pub fn write_published(#[shared] tile: ClusterTile<[u32; 4]>) {
    let mut view = tile.publish();
    view.own().set(1); //~ ERROR: no method named `own`
}

#[kernel] //~ ERROR: `ptx::atomic::Atomic<u32, ptx::atomic::Block>` cannot be an element of a `ClusterTile`
pub fn block_atomics(#[shared] tile: ClusterTile<[Atomic<u32, Block>; 4]>) { //~ ERROR: cannot be an element of a
    //~^ ERROR: cannot be an element of a `ClusterTile`
    let _ = tile;
}

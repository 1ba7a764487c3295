//! No reference outlives its phase.
#![no_std]
use ptx::prelude::*;
use ptx::shared::{SharedBuffers, SharedTile};

#[kernel]
pub fn write_while_published(#[shared] mut tile: SharedTile<[u32; 4]>) {
    let view = tile.publish();
    tile.own().set(view[0]); //~ ERROR: borrow of moved value: `tile`
}

#[kernel]
pub fn keep_own(#[shared] mut tile: SharedTile<[u32; 4]>) {
    let mut own = tile.own();
    let view = tile.publish(); //~ ERROR: cannot move out of `tile` because it is borrowed
    own.set(view[0]);
}

#[kernel]
pub fn keep_read(mut out: DisjointSlice<u32>, #[shared] tile: SharedTile<[u32; 4]>) {
    let view = tile.publish();
    let first = &view[0];
    let mut tile = view.reclaim(); //~ ERROR: cannot move out of `view` because it is borrowed
    tile.own().set(1);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = *first;
    }
}

#[kernel]
pub fn own_twice(#[shared] mut tile: SharedTile<[u32; 4]>) {
    let mut a = tile.own();
    let mut b = tile.own(); //~ ERROR: cannot borrow `tile` as mutable more than once
    a.set(1);
    b.set(2);
}

#[kernel]
pub fn keep_front(mut out: DisjointSlice<u32>, #[shared] mut buffers: SharedBuffers<[u32; 4]>) {
    let first = &buffers[0];
    buffers.swap(); //~ ERROR: cannot borrow `buffers` as mutable because it is also borrowed as immutable
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = *first;
    }
}

#[kernel]
pub fn write_through_a_view(#[shared] tile: SharedTile<[u32; 4]>) {
    let mut view = tile.publish();
    view[0] = 1; //~ ERROR: cannot assign to data in dereference
}

#[kernel]
pub fn keep_after_the_kernel(#[shared] tile: SharedTile<[u32; 4]>) {
    fn for_ever(_: SharedTile<'static, [u32; 4]>) {}
    for_ever(tile); //~ ERROR: borrowed data escapes outside of function
}

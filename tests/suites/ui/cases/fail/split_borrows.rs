//! A thread arrives once a phase, and keeps no element of another block beyond it.
#![no_std]
use ptx::prelude::*;
use ptx::shared::{ClusterTile, SplitBarrier};

#[kernel]
pub fn arrive_twice(#[shared] barrier: SplitBarrier) {
    let first = barrier.arrive();
    let second = barrier.arrive(); //~ ERROR: use of moved value: `barrier`
    first.wait().leave();
    second.wait().leave();
}

#[kernel]
pub fn keep_an_element(#[shared] tile: ClusterTile<[u32; 4]>) {
    let view = tile.publish();
    let element = &view.of_block(1)[0];
    let _tile = view.reclaim(); //~ ERROR: cannot move out of `view` because it is borrowed
    assert!(*element == 0);
}

//! Threads of a block read what others wrote to shared memory, after the barrier.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run: 2 8
//@ expect: 107 106 105 104 103 102 101 100 115 114 113 112 111 110 109 108
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static TILE: Shared<[u32; 8]>;

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let t = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // SAFETY: each thread writes its own element, and reads another's after the barrier.
    let mirrored = unsafe {
        TILE.write(t, i.get() as u32 + 100);
        sync_threads();
        TILE.read(7 - t)
    };
    if let Some(out) = out.get_mut(i) {
        *out = mirrored;
    }
}

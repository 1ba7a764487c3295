//! Atomics of a block in shared memory: every thread counts, all see the sum.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run: 2 32
//@ expect: 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31
//@ expect: 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31 528 31
#![no_std]
use ptx::Shared;
use ptx::atomic::{Atomic, Block, Ordering};
use ptx::prelude::*;

#[ptx::shared]
static SUM: Shared<Atomic<u32, Block>>;

#[ptx::shared]
static HIGHEST: Shared<Atomic<u32, Block>>;

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let t = thread::thread_idx_x();
    if t == 0 {
        SUM.store(0, Ordering::Relaxed);
        HIGHEST.store(0, Ordering::Relaxed);
    }
    sync_threads();
    SUM.fetch_add(t + 1, Ordering::Relaxed);
    HIGHEST.fetch_max(t, Ordering::Relaxed);
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if t % 2 == 0 { SUM.load(Ordering::Relaxed) } else { HIGHEST.load(Ordering::Relaxed) };
    }
}

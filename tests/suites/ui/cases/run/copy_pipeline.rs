//! A pipeline of copies in the background gives each stage's values, whichever thread copied them.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run: 1 8
//@ expect: 379132 368966 358956 349102 339404 329862 320476 311246
#![no_std]
use ptx::memory::{CopyPipeline, copy_async};
use ptx::prelude::*;
use ptx::{Global, Shared};

const STAGES: usize = 3;
const ROUNDS: usize = 12;

#[ptx::global]
static DATA: Global<[u32; 8 * ROUNDS]> = Global::new({
    let mut squares = [0; 8 * ROUNDS];
    let mut i = 0;
    while i < squares.len() {
        squares[i] = (i * i + 1) as u32;
        i += 1;
    }
    squares
});

#[ptx::shared]
static TILE: Shared<[u32; 8 * STAGES]>;

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let t = thread::thread_idx_x() as usize;
    let data = DATA.as_ptr().cast::<u32>();
    let place = |stage: usize, t: usize| TILE.as_ptr().cast::<u32>().wrapping_add(8 * stage + t);
    let mut pipeline = CopyPipeline::<STAGES>::new();
    let (mut sum, mut filled) = (0, 0);
    for round in 0..ROUNDS {
        while filled < ROUNDS && pipeline.under_way() < STAGES {
            // SAFETY: nobody writes `DATA`; each thread has its own place, which all have read before the last barrier.
            pipeline.fill(|stage| unsafe { copy_async(place(stage, t), data.add(8 * filled + t)) });
            filled += 1;
        }
        let Some(stage) = pipeline.wait() else { break };
        sync_threads();
        // SAFETY: each thread has waited for its own before the barrier.
        sum += (round as u32 + 1) * unsafe { place(stage, 7 - t).read() };
        sync_threads();
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if pipeline.wait().is_none() { sum } else { 0 };
    }
}

//! compute-sanitizer names the lines of a race in shared memory.
//@ launch: race<<<1, 64>>>(slice i32 64)
//@ compute-sanitizer: --tool racecheck --racecheck-report all
//@ compute-sanitizer-check: ========= Error: Potential RAW hazard detected at __shared__ [...]
//@ compute-sanitizer-check: =========     Write Thread [...] at [...] in race.rs:{#write}
//@ compute-sanitizer-check: =========     Read Thread [...] at [...] in race.rs:{#read}
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static TILE: Shared<[i32; 64]>;

#[kernel]
pub fn race(mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    let t = i.get();
    let tile: *mut i32 = TILE.as_ptr().cast();
    // SAFETY: each thread writes its own element.
    unsafe { *tile.add(t) = t as i32 }; // #write
    // SAFETY: none; the barrier that must stand here is missing.
    let other = unsafe { *tile.add(63 - t) }; // #read
    if let Some(out) = out.get_mut(i) {
        *out = other;
    }
}

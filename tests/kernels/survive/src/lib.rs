//! Threads that panic while others go on, wait for them, or would wait for ever.
#![no_std]

use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::prelude::*;
use ptx::sync::{NamedBarrier, sync_threads_count};
use ptx::{control, cooperative, warp};

use ptx::cooperative::WarpGroup as _;

/// Panics nowhere.
#[kernel]
pub fn adds(more: u32, values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(value)) = (out.get_mut(i), values.get(i.get())) {
        *out = value.wrapping_add(more);
    }
}

/// Panics in every thread from `first` on, `step` apart, by a check that the host makes the message of.
#[kernel]
pub fn panics_from(first: u32, step: u32, values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let number = i.get() as u32;
    let beyond = if number >= first && (number - first).is_multiple_of(step) { values.len() } else { 0 };
    let value = values[number as usize % values.len() + beyond];
    if let Some(out) = out.get_mut(i) {
        *out = value;
    }
}

/// Panics in thread 3 with a message that the device makes.
#[kernel]
pub fn formats(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if i.get() == 3 {
        panic!("all of {values:?}");
    }
    if let Some(out) = out.get_mut(i) {
        *out = 1;
    }
}

/// The threads of each block from `first` up to `end` panic; the others meet at barriers, and each writes how many came.
#[kernel]
pub fn meets_without(first: u32, end: u32, mut out: DisjointSlice<u32>) {
    let own = thread::thread_idx_x();
    assert!(own < first || own >= end, "thread {own} leaves");
    sync_threads();
    let count = sync_threads_count(true);
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = count;
    }
}

/// The same where those who leave do so while the others wait already.
#[kernel]
pub fn leaves_late(first: u32, end: u32, mut out: DisjointSlice<u32>) {
    let own = thread::thread_idx_x();
    if own >= first && own < end {
        let begin = thread::timer_ns();
        while thread::timer_ns() - begin < 2_000_000 {
            control::sleep_ns(10_000);
        }
        assert!(own < first, "thread {own} leaves late");
    }
    let count = sync_threads_count(true);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = count;
    }
}

/// A lane of each warp panics; the others vote, shuffle and add as if it were there.
#[kernel]
pub fn votes_without(lane: u32, mut out: DisjointSlice<[u32; 2]>) {
    let own = thread::lane_id();
    assert!(own != lane, "lane {own} leaves");
    let votes = warp::ALL.ballot(true);
    let of_first = warp::ALL.shuffle(own + 7, u32::from(lane == 0));
    warp::ALL.sync();
    // What a lane that has left gives is any value, so the sum is not looked at.
    let sum = cooperative::tile::<32>().reduce_add(1_u32);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [votes.bits(), if sum == u32::MAX { 0 } else { of_first }];
    }
}

/// The first thread panics before it says that the others may go on. They look whether somebody panicked if `look` is 1;
/// else they spin for ever.
#[kernel]
pub fn spins(look: u32, go: AtomicSlice<u32, Device>, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if i.get() == 0 {
        assert!(go.len() > 1, "the first leaves");
        go[0].store(1, Ordering::Release);
    }
    while go[0].load(Ordering::Acquire) == 0 {
        if look == 1 && control::has_panicked() {
            if let Some(out) = out.get_mut(i) {
                *out = 1;
            }
            return;
        }
        control::sleep_ns(1000);
    }
}

/// A whole warp of a barrier with a count panics: the other waits for ever.
#[kernel]
pub fn waits_for_a_count() {
    let own = thread::thread_idx_x();
    assert!(own >= 32, "thread {own} leaves");
    // SAFETY: blocks of 64 threads, all of which use the barrier so.
    unsafe { NamedBarrier::<1, 64>.sync() };
}

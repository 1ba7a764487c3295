//! Threads that panic while others go on, wait for them, or would wait for ever.
#![no_std]

use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::graph::Condition;
use ptx::prelude::*;
use ptx::sync::{NamedBarrier, sync_threads_count};
use ptx::{cluster, control, cooperative, warp};

use ptx::cooperative::{Group as _, WarpGroup as _};

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

/// Adds up what each thread has a list of, as long as `bounds` says; where the list names no value, its thread panics in its
/// round, while others of its warp have fewer rounds or more.
#[kernel]
pub fn sums_of_lists(bounds: &[u32], lists: &[u32], values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let mut sum = 0_u32;
    for &at in &lists[bounds[i.get()] as usize..bounds[i.get() + 1] as usize] {
        // Each is added as often as the value says.
        for round in 0..values[at as usize] {
            sum = sum.wrapping_add(values[(at + round) as usize % values.len()]);
        }
    }
    *out = sum + 1;
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
    // In the form that takes whole warps, because only a panic leads past it.
    sync_threads();
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

/// Threads of the second block of each cluster panic; the others of the cluster meet. Before sm_90 there are no clusters.
#[kernel]
pub fn clusters_without(first: u32, end: u32, mut out: DisjointSlice<u32>) {
    let rank = if ptx::arch() >= 900 { cluster::block_rank() } else { 1 };
    let own = thread::thread_idx_x();
    assert!(rank != 1 || own < first || own >= end, "thread {own} leaves");
    if ptx::arch() >= 900 {
        cluster::sync();
        cluster::sync();
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if ptx::arch() >= 900 { cluster::block_count() } else { 1 };
    }
}

/// Adds up over all blocks, round after round: each thread writes how many threads it saw in each. One thread panics after
/// so many rounds, if it gets there.
#[kernel]
pub fn rounds(
    rounds: u32,
    leaver: u32,
    after: u32,
    barrier: AtomicSlice<u32, Device>,
    counts: AtomicSlice<u32, Device>,
    mut out: DisjointSlice<u32>,
) {
    let all = cooperative::grid(&barrier[0]);
    let mut right = 0;
    for round in 0..rounds {
        assert!(all.rank() != leaver || round < after, "thread {leaver} leaves after {after} rounds");
        counts[round as usize].fetch_add(1, Ordering::Relaxed);
        all.sync();
        right += u32::from(counts[round as usize].load(Ordering::Relaxed) == all.size());
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = right;
    }
}

/// Counts the threads of the launch before, which wrote ones into all of `values`: all of them, although it may begin
/// before that ends.
#[kernel]
pub fn counts_after(values: &[u32], count: AtomicSlice<u32, Device>) {
    if ptx::arch() >= 900 {
        control::wait_for_launch_before();
    }
    if let Some(value) = values.get(thread::index_1d().get()) {
        count[0].fetch_add(*value, Ordering::Relaxed);
    }
}

/// Writes ones, late.
#[kernel]
pub fn writes_late(mut values: DisjointSlice<u32>) {
    if ptx::arch() >= 900 {
        control::let_next_launch_begin();
    }
    let begin = thread::timer_ns();
    while thread::timer_ns() - begin < 200_000 {
        control::sleep_ns(10_000);
    }
    if let Some(value) = values.get_mut(thread::index_1d()) {
        *value = 1;
    }
}

/// Says to kernels of other streams that this one has begun.
///
/// # Safety
/// `flag` must be an address of device memory that is only used as a flag.
#[kernel]
pub unsafe fn raises(flag: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { flag.write_volatile(1) };
}

/// Waits until a kernel of another stream has raised the flag, at most two seconds: 1 if it came.
///
/// # Safety
/// As of [`raises`].
#[kernel]
pub unsafe fn waits_for_flag(flag: *const u32, mut out: DisjointSlice<u32>) {
    let begin = thread::timer_ns();
    let mut came = 0;
    while came == 0 && thread::timer_ns() - begin < 2_000_000_000 {
        // SAFETY: the caller's promise.
        came = unsafe { flag.read_volatile() };
        control::sleep_ns(1000);
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = came;
    }
}

/// Copies only when a kernel of another stream has raised the flag.
///
/// # Safety
/// As of [`raises`].
#[kernel]
pub unsafe fn copies_after_flag(flag: *const u32, values: &[u32], mut out: DisjointSlice<u32>) {
    let begin = thread::timer_ns();
    // SAFETY: the caller's promise.
    while unsafe { flag.read_volatile() } == 0 && thread::timer_ns() - begin < 2_000_000_000 {
        control::sleep_ns(1000);
    }
    let i = thread::index_1d();
    if let (Some(out), Some(value)) = (out.get_mut(i), values.get(i.get())) {
        *out = *value;
    }
}

/// Takes more values than a launch keeps in itself.
#[kernel]
#[expect(clippy::too_many_arguments, reason = "that is what is tested")]
pub fn adds_many(
    a: u8,
    b: u16,
    first: [u64; 24],
    c: u32,
    second: [u64; 24],
    d: u64,
    third: [u64; 24],
    e: u8,
    f: u64,
    mut out: DisjointSlice<u64>,
) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let all = [first, second, third].map(|numbers| numbers.iter().sum::<u64>());
        *out = u64::from(a) + u64::from(b) + u64::from(c) + d + u64::from(e) + f + all.iter().sum::<u64>();
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

/// Adds one to all, and has the condition hold as long as the first is below the limit.
#[kernel]
pub fn counts_up(limit: u32, mut go_on: Condition<'_>, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out += 1;
        // The grid's first thread is the one that has this element.
        go_on.set(u32::from(*out < limit));
    }
}

/// Adds to all.
#[kernel]
pub fn adds_to(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let (Some(out), Some(value)) = (out.get_mut(i), values.get(i.get())) {
        *out = out.wrapping_add(*value);
    }
}

/// Sets the condition to what is in memory, from the last thread.
#[kernel]
pub fn decides(value: &u32, mut condition: Condition<'_>) {
    if thread::thread_idx_x() + 1 == thread::block_dim_x() && thread::block_idx_x() + 1 == thread::grid_dim_x() {
        // SAFETY: one thread of a launch in one dimension.
        unsafe { condition.set_from_this_thread(*value) };
    }
}

/// Writes each block's number in its cluster, and what the clusters have.
#[kernel]
pub fn ranks_in_clusters(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if ptx::arch() >= 900 { 100 * cluster::block_count() + cluster::block_rank() } else { 100 };
    }
}

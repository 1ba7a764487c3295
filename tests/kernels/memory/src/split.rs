//! Barriers in shared memory: in two steps, with threads that leave, with bytes, and for copies in the background.

use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::mbarrier::Mbarrier;
use ptx::prelude::*;
use ptx::shared::{SplitBarrier, SplitTile};
use ptx::vec::UInt4;
use ptx::{Shared, memory};

/// Reverses the elements of every block of 64, `rounds` times.
#[kernel]
pub fn split_rounds(rounds: u32, mut data: DisjointSlice<u32>, #[shared] mut tile: SplitTile<[u32; 64]>) {
    let i = thread::index_1d();
    let Some(own) = data.get_mut(i) else { return tile.leave() };
    for _ in 0..rounds {
        tile.own().set(*own);
        let published = tile.publish();
        // What has time until the others have arrived.
        *own = own.wrapping_mul(3);
        let view = published.wait();
        *own = own.wrapping_add(view[63 - thread::thread_idx_x() as usize]);
        tile = view.reclaim().wait();
    }
    tile.leave();
}

/// What [`split_rounds`] leaves of a block of 64.
pub fn after_split_rounds(rounds: u32, block: &mut [u32]) {
    for _ in 0..rounds {
        let mut before = [0; 64];
        before.copy_from_slice(block);
        for (at, own) in block.iter_mut().enumerate() {
            *own = own.wrapping_mul(3).wrapping_add(before[63 - at]);
        }
    }
}

/// Counts what has arrived, for each round.
#[ptx::shared]
static ARRIVALS: Shared<[Atomic<u32, Block>; 16]>;

/// How many rounds a thread takes part in.
pub const fn stays(thread: u32) -> u32 {
    1 + thread % 16
}

/// Threads that leave after [`stays`] rounds; each writes in how many rounds it saw all that took part.
#[kernel]
pub fn split_leavers(mut out: DisjointSlice<u32>, #[shared] mut barrier: SplitBarrier) {
    let (own, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    if own == 0 {
        ARRIVALS.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }
    barrier.sync();
    let mut right = 0;
    for round in 0..stays(own) - 1 {
        let all = (0..threads).filter(|thread| stays(*thread) > round).count() as u32;
        ARRIVALS[round as usize].fetch_add(1, Ordering::Relaxed);
        let arrived = barrier.arrive();
        barrier = arrived.wait();
        right += u32::from(ARRIVALS[round as usize].load(Ordering::Relaxed) == all);
    }
    ARRIVALS[stays(own) as usize - 1].fetch_add(1, Ordering::Relaxed);
    barrier.leave();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = right;
    }
}

/// A thread of each block panics in round `after`, if it is `leaver`; the others would wait for it.
#[kernel]
pub fn split_without(leaver: u32, after: u32, mut out: DisjointSlice<u32>, #[shared] mut barrier: SplitBarrier) {
    let i = thread::index_1d();
    for round in 0..10 {
        assert!(round != after || i.get() as u32 != leaver, "thread {leaver} leaves");
        barrier.sync();
    }
    if let Some(out) = out.get_mut(i) {
        *out = 1;
    }
    barrier.leave();
}

#[ptx::shared]
static BYTES: Shared<Mbarrier>;

/// A phase that needs an arrival and four bytes of each thread. Whether it was over before they came, and after; how many
/// arrivals it lacked before the one; and whether the next one was over, which it must not be.
///
/// # Safety
/// `out` has an element for each thread of the one block.
#[kernel]
pub unsafe fn split_bytes(mut out: DisjointSlice<[u32; 4]>) {
    let (own, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    // SAFETY: one thread makes the barrier; it arrives once, and announces what all threads complete.
    let found = unsafe {
        if own == 0 {
            BYTES.init(1);
        }
        sync_threads();
        let lacked = if own == 0 { BYTES.arrive_expecting(4 * threads).pending() } else { 0 };
        sync_threads();
        let before = BYTES.is_parity_over(false);
        sync_threads();
        BYTES.complete(4);
        BYTES.wait_parity(false);
        [before.into(), BYTES.is_parity_over(false).into(), lacked, BYTES.is_parity_over(true).into()]
    };
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = found;
    }
}

#[ptx::shared]
static COPIED: Shared<[UInt4; 64]>;
#[ptx::shared]
static FULL: Shared<Mbarrier>;

/// Reverses the vectors of every block of 64 by copies in the background, with zeros for what is past the end, and for the
/// last 4 bytes of every other vector.
///
/// # Safety
/// `from` has `n` elements, and `to` one for every thread of the launch.
#[kernel(launch_bounds(64))]
pub unsafe fn split_copies(from: *const UInt4, n: usize, to: *mut UInt4) {
    let (i, own) = (thread::index_1d().get(), thread::thread_idx_x() as usize);
    // SAFETY: one thread makes the barrier, for an arrival of each thread, which its own copy makes.
    unsafe {
        if own == 0 {
            FULL.init(64);
        }
        sync_threads();
        let place = COPIED.as_ptr().cast::<UInt4>().add(own);
        if i.is_multiple_of(2) {
            memory::copy_async_if(place, from.add(i), i < n);
        } else {
            memory::copy_async_part(place, from.add(i), if i < n { 12 } else { 0 });
        }
        FULL.arrive_after_copies_counted();
        FULL.wait_parity(false);
        to.add(i).write(COPIED.as_ptr().cast::<UInt4>().add(63 - own).read());
    }
}

/// What thread `i` of [`split_copies`] copies.
pub fn copied(from: &[UInt4], i: usize) -> UInt4 {
    let value = from.get(i).copied().unwrap_or(UInt4::new(0, 0, 0, 0));
    if i.is_multiple_of(2) { value } else { UInt4::new(value.x, value.y, value.z, 0) }
}

/// Adds all values by every policy of L2: each thread its own, which it also copies.
///
/// # Safety
/// Both have `n` elements.
#[kernel]
pub unsafe fn by_policies(from: *const UInt4, to: *mut UInt4, n: usize, sum: AtomicSlice<u32, Device>) {
    use ptx::memory::{CachePolicy, Evict, Rest, load_with, store_with};
    let i = thread::index_1d().get();
    if i >= n {
        return;
    }
    let bytes = (n * size_of::<UInt4>()) as u32;
    // SAFETY: in bounds, and each thread has its own element of `to`.
    unsafe {
        let range = |evict, rest| CachePolicy::range(evict, rest, from, bytes / 2, bytes);
        let policies = [
            CachePolicy::fraction(Evict::Last, Rest::Unchanged, 0.25),
            CachePolicy::fraction(Evict::Normal, Rest::First, 1.0),
            CachePolicy::fraction(Evict::First, Rest::Unchanged, 0.5),
            CachePolicy::fraction(Evict::Unchanged, Rest::First, 0.5),
            range(Evict::Last, Rest::First),
            range(Evict::First, Rest::Unchanged),
        ];
        for policy in policies {
            let value = load_with(from.add(i), policy);
            sum[0].fetch_add(value.x.wrapping_add(value.w), Ordering::Relaxed);
            store_with(to.add(i), value, policy);
        }
    }
}

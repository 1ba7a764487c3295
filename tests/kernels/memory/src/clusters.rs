//! Kernels that ask for clusters and for cooperation themselves; the launch does not say it.

use ptx::atomic::{Atomic, AtomicSlice, Cluster, Device, Ordering};
use ptx::cooperative::{self, Group as _};
use ptx::mbarrier::{self, Mbarrier};
use ptx::shared::ClusterTile;
use ptx::{Shared, cluster, prelude::*};

/// A thread's place: its block's rank in the cluster, and the cluster's blocks.
fn place(mut out: DisjointSlice<[u32; 2]>) {
    cluster::sync();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [cluster::block_rank(), cluster::block_count()];
    }
}

/// In clusters of two blocks.
#[kernel(cluster(2))]
pub fn pairs(out: DisjointSlice<[u32; 2]>) {
    place(out);
}

/// In clusters as the instance says.
#[kernel(instantiate(4, 8), cluster(BLOCKS))]
pub fn groups<const BLOCKS: u32>(out: DisjointSlice<[u32; 2]>) {
    place(out);
}

/// In clusters as the launch says, of at most four blocks.
#[kernel(launch_bounds(128, 1, 4))]
pub fn at_most_four(out: DisjointSlice<[u32; 2]>) {
    place(out);
}

/// Counts, round after round, how often it has seen all threads before it went on.
#[kernel(cooperative)]
pub fn all_at_once(barrier: AtomicSlice<u32, Device>, counts: AtomicSlice<u32, Device>, mut out: DisjointSlice<u32>) {
    let all = cooperative::grid(&barrier[0]);
    let mut right = 0;
    for count in counts.iter() {
        count.fetch_add(1, Ordering::Relaxed);
        all.sync();
        right += u32::from(count.load(Ordering::Relaxed) == all.size());
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = right;
    }
}

/// Each element becomes that of the same thread in the cluster's next block, `rounds` times.
#[kernel(cluster(4), launch_bounds(64))]
pub fn rotate(rounds: u32, mut data: DisjointSlice<u32>, #[shared] mut tile: ClusterTile<[u32; 64]>) {
    let i = thread::index_1d();
    let next = (cluster::block_rank() + 1) % cluster::block_count();
    for _ in 0..rounds {
        tile.own().set(data.get_mut(i).map_or(0, |own| *own));
        let tiles = tile.publish();
        if let Some(own) = data.get_mut(i) {
            *own = tiles.of_block(next)[thread::thread_idx_x() as usize];
        }
        tile = tiles.reclaim();
    }
}

/// Counts bytes in bins that the blocks of a cluster of two share out: even bytes in the first, odd ones in the second.
#[kernel(cluster(2))]
pub fn cluster_histogram(
    data: &[u8],
    counts: AtomicSlice<u32, Device>,
    #[shared] mut bins: ClusterTile<[Atomic<u32, Cluster>; 128]>,
) {
    bins.own().fill(|_| Atomic::new(0));
    let bins = bins.publish();
    if let Some(byte) = data.get(thread::index_1d().get()) {
        bins.of_block(u32::from(*byte) % 2)[usize::from(*byte) / 2].fetch_add(1, Ordering::Relaxed);
    }
    let own = cluster::block_rank();
    let mut bins = bins.reclaim();
    for (bin, count) in bins.own().iter_mut() {
        counts[2 * bin + own as usize].fetch_add(*count.get_mut(), Ordering::Relaxed);
    }
}

#[ptx::shared]
static BOX: Shared<[u64; 64]>;
#[ptx::shared]
static FULL: Shared<Mbarrier>;

/// Each block of two writes into the other's memory, and arrives there; then it reads its own. Also the ranks of the blocks
/// whose memory places are in, by both ways of asking.
///
/// # Safety
/// `out` has an element for every thread of the launch; blocks have 64 threads.
#[kernel(cluster(2), launch_bounds(64))]
pub unsafe fn send(out: *mut [u32; 4]) {
    let (own, i) = (thread::thread_idx_x() as usize, thread::index_1d().get());
    let other = 1 - cluster::block_rank();
    // SAFETY: barriers are made before the cluster's first barrier, and nobody ends before its last; each thread writes its
    // own element, and arrives once, behind that.
    unsafe {
        if own == 0 {
            FULL.init(64);
            mbarrier::fence_init();
        }
        cluster::sync();
        let place = BOX.as_ptr().cast::<u64>().add(own);
        cluster::remote(place, other).store(i as u64);
        cluster::remote(&raw const *FULL, other).arrive();
        FULL.wait_parity_of_cluster(false);
        let mapped = cluster::map_shared_rank(place, other);
        let ranks = [cluster::remote(place, other).block_rank(), cluster::query_shared_rank(mapped)];
        let is_there = cluster::is_cluster_shared(mapped) && !cluster::is_cluster_shared(out);
        out.add(i).write([place.read() as u32, ranks[0], ranks[1], u32::from(is_there)]);
        cluster::sync();
    }
}

#[ptx::shared]
static WORDS: Shared<[u128; 64]>;
#[ptx::shared]
static COUNTS: Shared<[Atomic<u32, Cluster>; 2]>;

/// Bytes that each block gets in the background: 16 of each thread, and 8 for the two counts.
const BYTES: u32 = 64 * (16 + 8);

/// Each block of two stores and counts in the other's memory, in the background; the barrier there counts the bytes. Then
/// threads leave it, round after round, and only those are waited for that have not left.
///
/// # Safety
/// `out` has an element for every thread of the launch; blocks have 64 threads.
#[kernel(cluster(2), launch_bounds(64))]
pub unsafe fn send_in_the_background(out: *mut [u64; 5]) {
    let (own, i) = (thread::thread_idx_x() as usize, thread::index_1d().get());
    let other = 1 - cluster::block_rank();
    // SAFETY: barriers are made before the cluster's first barrier, and nobody ends before its last. In the first phase one
    // thread arrives, which tells of all bytes; each thread writes its own words. Later phases get an arrival from each
    // thread of the other block that has not left.
    unsafe {
        if own == 0 {
            FULL.init(1);
            LEFT.init(64);
            mbarrier::fence_init();
            FULL.arrive_expecting(BYTES);
            COUNTS[0].store(0, Ordering::Relaxed);
            COUNTS[1].store(u32::MAX, Ordering::Relaxed);
        }
        cluster::sync();
        let full = cluster::remote(&raw const *FULL, other);
        let place = WORDS.as_ptr().cast::<[u64; 2]>().add(own);
        cluster::remote(place, other).store_async([i as u64, !(i as u64)], full);
        cluster::remote((&raw const COUNTS[0]).cast::<u32>(), other).add_async(own as u32, full);
        cluster::remote((&raw const COUNTS[1]).cast::<u32>(), other).min_async(100 + own as u32, full);
        FULL.wait_parity_of_cluster(false);
        let words = place.read();
        let counts = COUNTS.each_ref().map(|count| u64::from(count.load(Ordering::Relaxed)));

        // Half of the threads leave in each round. The cluster's barrier keeps a phase until all have seen it end.
        let (left, mut rounds) = (cluster::remote(&raw const *LEFT, other), 0);
        for round in 0..6 {
            let some = 64 >> round;
            if own < some {
                if own < some / 2 {
                    left.arrive();
                } else {
                    left.leave();
                }
                LEFT.wait_parity_of_cluster(round % 2 == 1);
                rounds += 1;
            }
            cluster::sync();
        }
        out.add(i).write([words[0], words[1], counts[0], counts[1], rounds]);
    }
}

#[ptx::shared]
static LEFT: Shared<Mbarrier>;

//! Kernels that ask for clusters and for cooperation themselves; the launch does not say it.

use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::cooperative::{self, Group as _};
use ptx::{cluster, prelude::*};

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

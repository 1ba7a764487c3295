//! Block algorithms, whose twins call CUB's.

use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::block::{self, Exchange, Histogram, MergeSort, Neighbours, RadixSort, RadixSortPairs, Reduce, Scan};
use ptx::prelude::*;
use ptx::{PerBlock, PerThread};

/// Threads of a block, items of each, and of a block.
const THREADS: usize = 256;
const ITEMS: usize = 4;
const TILE: usize = THREADS * ITEMS;
/// How often a block repeats what would otherwise wait for memory alone.
const ROUNDS: u32 = 64;

/// This block's tile.
#[inline(always)]
fn tile_of<T>(x: &[T]) -> &[T] {
    x.get(thread::block_idx_x() as usize * TILE..).unwrap_or(&[])
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_reduce(x: &[f32], mut sums: PerBlock<f32>, #[shared] mut block: Reduce<f32, THREADS>) {
    let own: [f32; ITEMS] = block::load_blocked(tile_of(x), 0.0);
    if let Some(sum) = block.sum_to_first(own[0] + own[1] + own[2] + own[3])
        && let Some(out) = sums.part().get_mut()
    {
        *out = sum;
    }
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_reduce_rounds(x: &[f32], mut sums: PerBlock<f32>, #[shared] mut block: Reduce<f32, THREADS>) {
    let mut own = x.get(thread::index_1d().get()).copied().unwrap_or(0.0);
    for _ in 0..ROUNDS {
        if let Some(sum) = block.sum_to_first(own) {
            own = sum * 0.001;
        }
    }
    if let Some(out) = sums.part().get_mut() {
        *out = own;
    }
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_scan(
    x: &[u32],
    mut y: PerBlock<u32, TILE>,
    #[shared] mut block: Scan<u32, THREADS>,
    #[shared] mut tile: Exchange<u32, THREADS, ITEMS>,
) {
    let own = tile.load(tile_of(x), 0);
    let (sums, _) = block.exclusive_sum_items(own);
    tile.store(&mut y.part(), sums);
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_scan_rounds(x: &[u32], mut y: DisjointSlice<u32>, #[shared] mut block: Scan<u32, THREADS>) {
    let i = thread::index_1d();
    let mut own = x.get(i.get()).copied().unwrap_or(0);
    for _ in 0..ROUNDS {
        own = block.inclusive_sum(own);
    }
    if let Some(y) = y.get_mut(i) {
        *y = own;
    }
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_exchange(x: &[f32], mut y: PerBlock<f32, TILE>, #[shared] mut tile: Exchange<f32, THREADS, ITEMS>) {
    let mut own = tile.striped_to_blocked(block::load_striped(tile_of(x), 0.0));
    for item in 1..ITEMS {
        own[item] += own[item - 1];
    }
    block::store_striped(&mut y.part(), tile.blocked_to_striped(own));
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_radix_sort(x: &[u32], mut y: PerBlock<u32, TILE>, #[shared] mut block: RadixSort<u32, THREADS, ITEMS>) {
    let keys = block.sort_to_striped(block::load_blocked(tile_of(x), u32::MAX));
    block::store_striped(&mut y.part(), keys);
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_radix_sort_pairs(
    keys: &[u32],
    values: &[u32],
    mut sorted: PerBlock<u32, TILE>,
    mut along: PerBlock<u32, TILE>,
    #[shared] mut block: RadixSortPairs<u32, u32, THREADS, ITEMS>,
) {
    let (keys, values) = (block::load_blocked(tile_of(keys), u32::MAX), block::load_blocked(tile_of(values), 0));
    let (keys, values) = block.sort_to_striped(keys, values);
    block::store_striped(&mut sorted.part(), keys);
    block::store_striped(&mut along.part(), values);
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_merge_sort(x: &[u32], mut y: PerThread<u32, ITEMS>, #[shared] mut block: MergeSort<u32, THREADS, ITEMS>) {
    let values = block::load_blocked(tile_of(x), u32::MAX);
    block::store_blocked(&mut y, block.sort(values, |a, b| a < b));
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_histogram(x: &[u8], total: AtomicSlice<u32, Device>, #[shared] mut bins: Histogram<256, THREADS>) {
    bins.clear();
    for i in thread::grid_stride(x.len()) {
        bins.add(x[i].into());
    }
    for (bin, count) in bins.counts() {
        total[bin].fetch_add(count, Ordering::Relaxed);
    }
}

#[kernel(dimensions = 1, launch_bounds(256))]
pub fn block_differences(x: &[u32], mut y: PerThread<u32, ITEMS>, #[shared] mut block: Neighbours<u32, THREADS>) {
    let own: [u32; ITEMS] = block::load_blocked(tile_of(x), 0);
    block::store_blocked(&mut y, block.differences(own, None, |before, this| this.wrapping_sub(before)));
}

//! Reductions and scans.

use ptx::block::{Histogram, Number, RadixSort, Reduce, Scan, load_blocked, store_blocked};
use ptx::prelude::*;
use ptx::{PerThread, thread};

/// Results of a reduction in each thread.
pub const REDUCED: usize = 8;

/// This block's tile, which may be short or empty.
#[inline(always)]
pub(crate) fn tile_of<T>(x: &[T], threads: usize, items: usize) -> &[T] {
    x.get(thread::block_idx_x() as usize * threads * items..).unwrap_or(&[])
}

#[inline(always)]
fn reduce<T: Number, const THREADS: usize, const ITEMS: usize>(
    tile: &[T],
    block: &mut Reduce<T, THREADS>,
) -> [T; REDUCED] {
    let items: [T; ITEMS] = load_blocked(tile, T::ZERO);
    let largest = items.into_iter().fold(T::ZERO, T::larger);
    [
        block.sum_items(items),
        block.min_items(items),
        block.max_items(items),
        block.reduce(items[0], T::plus),
        block.reduce_items(items, T::smaller),
        block.sum_to_first(items[0]).unwrap_or(T::ZERO),
        block.reduce_to_first(largest, T::larger).unwrap_or(T::ZERO),
        // The right one: associative, and not commutative.
        block.reduce_first(items[0], tile.len().div_ceil(ITEMS).min(THREADS), |_, b| b).unwrap_or(T::ZERO),
    ]
}

macro_rules! reduction {
    ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
        #[kernel(launch_bounds($threads))]
        pub fn $name(x: &[$ty], mut out: PerThread<[$ty; REDUCED]>, #[shared] mut block: Reduce<$ty, $threads>) {
            let found = reduce::<$ty, $threads, $items>(tile_of(x, $threads, $items), &mut block);
            store_blocked(&mut out, [found]);
        }
    )*};
}
reductions!(reduction);

/// Results of a scan in each item.
pub const SCANNED: usize = 6;

#[inline(always)]
fn scan<T: Number, const THREADS: usize, const ITEMS: usize>(
    tile: &[T],
    block: &mut Scan<T, THREADS>,
) -> [[T; SCANNED]; ITEMS] {
    let items: [T; ITEMS] = load_blocked(tile, T::ZERO);
    let (inclusive, total) = block.inclusive_sum_items(items);
    let (exclusive, _) = block.exclusive_sum_items(items);
    let (larger, _) = block.inclusive_items(items, T::larger);
    // The right one: associative, and not commutative.
    let (before, last) = block.exclusive_items(items, T::ZERO, |_, b| b);
    // As of two tiles, one after the other.
    let mut carry = T::ZERO;
    _ = block.exclusive_from(&mut carry, items[0], T::plus);
    let second = block.exclusive_from(&mut carry, items[0], T::plus);
    let one = block.inclusive_sum(items[0]).plus(block.exclusive_sum(items[0]).0);
    let mut found = [[T::ZERO; SCANNED]; ITEMS];
    for (item, found) in found.iter_mut().enumerate() {
        let others = if item == 0 { [second, carry] } else { [total.plus(last), one] };
        *found = [inclusive[item], exclusive[item], larger[item], before[item], others[0], others[1]];
    }
    found
}

macro_rules! scanning {
    ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
        #[kernel(launch_bounds($threads))]
        pub fn $name(x: &[$ty], mut out: PerThread<[$ty; SCANNED], $items>, #[shared] mut block: Scan<$ty, $threads>) {
            let found = scan::<$ty, $threads, $items>(tile_of(x, $threads, $items), &mut block);
            store_blocked(&mut out, found);
        }
    )*};
}
scans!(scanning);

macro_rules! float_sums {
    ($($name:ident $threads:literal;)*) => {$(
        /// What a scan of floats, each a thread's, finds up to it, before it, and of all.
        #[kernel(dimensions = 1, launch_bounds($threads))]
        pub fn $name(x: &[f32], mut out: PerThread<[f32; 3]>, #[shared] mut block: Scan<f32, $threads>) {
            let own = x.get(thread::index_1d().get()).copied().unwrap_or(0.0);
            let found = block.scan(own, |a, b| a + b);
            store_blocked(&mut out, [[found.inclusive, found.exclusive.unwrap_or(0.0), found.total]]);
        }
    )*};
}
float_sums! {
    float_sums_256 256;
    float_sums_384 384;
}

/// Threads from `stay` on end at once; the others go on without them. Whatever they find, they come to the end.
#[kernel(launch_bounds(128))]
pub fn leave(
    stay: u32,
    mut out: PerThread<[u32; 2]>,
    #[shared] mut reduce: Reduce<u32, 128>,
    #[shared] mut sort: RadixSort<u32, 128, 2>,
) {
    let t = thread::thread_idx_x();
    if t >= stay {
        ptx::control::exit();
    }
    let sum = reduce.sum(1);
    let sorted = sort.sort([sum ^ t << 20, t]);
    store_blocked(&mut out, [[1, u32::from(sorted[0] | sorted[1] == 0)]]);
}

/// Counts in a bin that may not be there.
#[kernel(launch_bounds(32))]
pub fn count_in(bin: usize, mut out: PerThread<u32>, #[shared] mut bins: Histogram<10, 32>) {
    bins.clear();
    bins.add(bin);
    _ = bins.counts();
    store_blocked(&mut out, [bins.count(bin)]);
}

/// Sorts by bits that may not be there.
#[kernel(launch_bounds(32))]
pub fn sort_by(first: u32, end: u32, mut out: PerThread<u32>, #[shared] mut sort: RadixSort<u32, 32, 1>) {
    store_blocked(&mut out, sort.sort_bits([31 - thread::thread_idx_x()], first..end));
}

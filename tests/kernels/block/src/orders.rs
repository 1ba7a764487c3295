//! Merge sorts, choices, neighbours, runs and histograms.
#![expect(clippy::too_many_arguments, reason = "an object for each algorithm")]

use ptx::PerThread;
use ptx::block::{Histogram, MergeSort, Neighbours, ReduceByKey, RunLength, Select, load_blocked, store_blocked};
use ptx::prelude::*;

use crate::sums::tile_of;

/// Results in each item.
pub const ORDERED: usize = 12;

/// Bins of the histogram.
pub const BINS: usize = 37;

macro_rules! ordering {
    ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
        #[kernel(launch_bounds($threads))]
        pub fn $name(
            x: &[$ty],
            mut out: PerThread<[$ty; ORDERED], $items>,
            #[shared] mut sort: MergeSort<$ty, $threads, $items>,
            #[shared] mut select: Select<$ty, $threads, $items>,
            #[shared] mut neighbours: Neighbours<$ty, $threads>,
            #[shared] mut runs: RunLength<$ty, $threads, $items>,
            #[shared] mut by_key: ReduceByKey<$ty, $ty, $threads, $items>,
            #[shared] mut bins: Histogram<BINS, $threads>,
        ) {
            let tile = tile_of(x, $threads, $items);
            let own: [$ty; $items] = load_blocked(tile, 0);
            let sorted = sort.sort(own, |a, b| a / 8 < b / 8);
            let (chosen, count) = select.select_if(own, |value| value % 3 == 0);
            let (parted, first) = select.partition(own, own.map(|value| value % 3 == 0));
            let to_left = neighbours.differences(own, None, |before, this| this.wrapping_sub(before));
            let to_right = neighbours.differences_to_next(own, Some(7), |this, next| next.wrapping_sub(this));
            let parity = own.map(|value| value & 1);
            let heads = neighbours.heads(parity, Some(0), |before, this| before != this);
            let tails = neighbours.tails(parity, None, |this, next| this != next);
            let (runs, _) = runs.encode(parity, tile.len());
            let (sums, _) = by_key.reduce(parity, own, |a, b| a.wrapping_add(b));
            bins.clear();
            for value in own {
                bins.add((value as u64 % BINS as u64) as usize);
            }
            let mine: u32 = bins.counts().map(|(_, count)| count).sum();
            let found = core::array::from_fn(|item| {
                let at = thread::thread_idx_x() as usize * $items + item;
                let (run, sum) = (runs[item], sums[item]);
                [
                    sorted[item],
                    chosen[item].unwrap_or(count as $ty),
                    parted[item],
                    to_left[item],
                    to_right[item].wrapping_add(first as $ty),
                    heads[item] as $ty | (tails[item] as $ty) << 1,
                    run.map_or(9, |run| run.value),
                    run.map_or(9, |run| run.start as $ty),
                    run.map_or(9, |run| run.len as $ty),
                    sum.map_or(9, |(key, _)| key),
                    sum.map_or(9, |(_, sum)| sum),
                    (bins.count(at % BINS) + mine) as $ty,
                ]
            });
            store_blocked(&mut out, found);
        }
    )*};
}
orders!(ordering);

//! Radix sorts.

use ptx::block::{RadixKey, RadixSort, RadixSortPairs, load_blocked, store_blocked, store_striped};
use ptx::prelude::*;
use ptx::{PerBlock, PerThread, thread};

use crate::sums::tile_of;

/// Results of a sort in each item.
pub const SORTED: usize = 6;

/// The bits that one of the sorts looks at.
pub const BITS: core::ops::Range<u32> = 2..7;

#[inline(always)]
fn sort<K: RadixKey, const THREADS: usize, const ITEMS: usize>(
    tile: &[K],
    zero: K,
    keys: &mut RadixSort<K, THREADS, ITEMS>,
    pairs: &mut RadixSortPairs<K, u32, THREADS, ITEMS>,
) -> ([[K; SORTED]; ITEMS], [K; ITEMS], [u32; ITEMS]) {
    let items: [K; ITEMS] = load_blocked(tile, zero);
    let first = thread::thread_idx_x() * ITEMS as u32;
    let numbers = core::array::from_fn(|item| first + item as u32);
    let (by_bits, _) = pairs.sort_bits(items, numbers, BITS);
    let (down, _) = pairs.sort_descending(items, numbers);
    let (sorted, numbers) = pairs.sort(items, numbers);
    let largest = keys.largest(items, 5);
    let found = [
        keys.sort(items),
        keys.sort_descending(items),
        keys.sort_bits(items, BITS),
        by_bits,
        down,
        // Of a block, the five largest lie in the first items of five threads.
        core::array::from_fn(|item| largest[item].unwrap_or(zero)),
    ];
    let striped = keys.sort_to_striped(sorted);
    (core::array::from_fn(|item| found.map(|found| found[item])), striped, numbers)
}

macro_rules! sorting {
    ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
        #[kernel(launch_bounds($threads))]
        pub fn $name(
            x: &[$ty],
            mut out: PerThread<[$ty; SORTED], $items>,
            mut striped: PerBlock<$ty, { $threads * $items }>,
            mut numbers: PerThread<u32, $items>,
            #[shared] mut keys: RadixSort<$ty, $threads, $items>,
            #[shared] mut pairs: RadixSortPairs<$ty, u32, $threads, $items>,
        ) {
            let tile = tile_of(x, $threads, $items);
            let (found, sorted, from) = sort::<$ty, $threads, $items>(tile, 0 as $ty, &mut keys, &mut pairs);
            store_blocked(&mut out, found);
            store_striped(&mut striped.part(), sorted);
            store_blocked(&mut numbers, from);
        }
    )*};
}
sorts!(sorting);

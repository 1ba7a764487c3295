//! Exchanges, loads and stores.

use ptx::block::{Exchange, Value, load_blocked, load_striped, store_blocked, store_striped};
use ptx::prelude::*;
use ptx::{PerBlock, PerThread, thread};

use crate::sums::tile_of;

/// Results of an exchange in each item.
pub const EXCHANGED: usize = 8;

#[inline(always)]
fn exchange<T: Value, const THREADS: usize, const ITEMS: usize>(
    tile: &[T],
    zero: T,
    block: &mut Exchange<T, THREADS, ITEMS>,
) -> [[T; EXCHANGED]; ITEMS] {
    let items: [T; ITEMS] = load_blocked(tile, zero);
    let first = thread::thread_idx_x() * ITEMS as u32;
    let ranks = core::array::from_fn(|item| (THREADS * ITEMS) as u32 - 1 - first - item as u32);
    // Every second value, where it is.
    let some = core::array::from_fn(|item| Some(first + item as u32).filter(|at| at % 2 == 0));
    let halves = block.scatter_some_to_striped(items, some);
    let found = [
        block.blocked_to_striped(items),
        block.striped_to_blocked(items),
        block.blocked_to_warp_striped(items),
        block.warp_striped_to_blocked(items),
        block.scatter_to_blocked(items, ranks),
        block.scatter_to_striped(items, ranks),
        block.load(tile, zero),
        core::array::from_fn(|item| {
            let at = item * THREADS + thread::thread_idx_x() as usize;
            if at.is_multiple_of(2) { halves[item] } else { zero }
        }),
    ];
    core::array::from_fn(|item| found.map(|found| found[item]))
}

macro_rules! exchanging {
    ($($name:ident $ty:ident $threads:literal $items:literal;)*) => {$(
        /// The exchanges, and the input stored in two ways.
        #[kernel(launch_bounds($threads))]
        pub fn $name(
            x: &[$ty],
            mut out: PerThread<[$ty; EXCHANGED], $items>,
            mut stored: PerBlock<$ty, { $threads * $items }>,
            mut striped: PerBlock<$ty, { $threads * $items }>,
            #[shared] mut block: Exchange<$ty, $threads, $items>,
        ) {
            let tile = tile_of(x, $threads, $items);
            store_blocked(&mut out, exchange::<$ty, $threads, $items>(tile, 0 as $ty, &mut block));
            block.store(&mut stored.part(), load_blocked(tile, 0 as $ty));
            store_striped(&mut striped.part(), load_striped::<$ty, $items>(tile, 0 as $ty));
        }
    )*};
}
exchanges!(exchanging);

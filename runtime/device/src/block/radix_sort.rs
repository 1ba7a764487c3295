//! Radix sort over a block.

use core::fmt;
use core::ops::Range;

use super::key::{RadixKey, checked};
use super::memory::Value;
use super::rank::{Counts, DIGIT, Ranks};
use super::threads::Shape;
use super::tile::{Arrangement, Memory, Tile};
use crate::shared::{ObjectBarrier, SharedParam};
use crate::warp;

/// Sorts `ITEMS` keys of each of a block's `THREADS` threads: CUB's `BlockRadixSort<K, THREADS, ITEMS>`.
///
/// The sort is stable and looks at eight bits at a time, four barriers each. Keys go in blocked: thread `t` has those from
/// `t * ITEMS` on. They come out blocked or, by `_to_striped`, at `t`, `t + THREADS`, … For a tile that is not full, fill
/// in the largest key (in a descending sort, the smallest).
///
/// It takes the shared memory of an [`Exchange`](super::Exchange) and 16 bytes a thread.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for; the result is then any
/// keys.
///
/// ```
/// use ptx::block::{self, RadixSort};
/// use ptx::PerBlock;
/// use ptx::prelude::*;
///
/// /// Sorts every 1024 numbers.
/// #[kernel(dimensions = 1, launch_bounds(256))]
/// pub fn sort(x: &[f32], mut y: PerBlock<f32, 1024>, #[shared] mut sort: RadixSort<f32, 256, 4>) {
///     let mut part = y.part();
///     let keys = block::load_blocked(x.get(part.start()..).unwrap_or(&[]), f32::INFINITY);
///     block::store_striped(&mut part, sort.sort_to_striped(keys));
/// }
/// ```
pub struct RadixSort<K: RadixKey, const THREADS: usize, const ITEMS: usize> {
    tile: Tile<K::Bits, THREADS, ITEMS>,
    ranks: Ranks<THREADS>,
    thread: u32,
    is_used: bool,
    barrier: ObjectBarrier,
}

/// Sorts pairs of a key and a value by their keys: CUB's `BlockRadixSort<K, THREADS, ITEMS, V>`. See [`RadixSort`].
///
/// It takes the shared memory of an [`Exchange`](super::Exchange) of the values more.
pub struct RadixSortPairs<K: RadixKey, V: Value, const THREADS: usize, const ITEMS: usize> {
    keys: RadixSort<K, THREADS, ITEMS>,
    values: Tile<V, THREADS, ITEMS>,
}

/// Shared memory of a [`RadixSort`].
#[repr(C)]
pub struct Keys<B, const THREADS: usize, const ITEMS: usize> {
    tile: Memory<B, THREADS, ITEMS>,
    counts: Counts<THREADS>,
}

/// Shared memory of [`RadixSortPairs`].
#[repr(C)]
pub struct Pairs<B, V, const THREADS: usize, const ITEMS: usize> {
    keys: Keys<B, THREADS, ITEMS>,
    values: Memory<V, THREADS, ITEMS>,
}

/// What goes along with the keys.
trait Along<const ITEMS: usize> {
    /// Whether values with equal keys can be told apart.
    const IS_SEEN: bool;
    fn write(&mut self, arrangement: Arrangement, thread: u32);
    fn scatter(&mut self, ranks: [u32; ITEMS]);
    fn read(&mut self, arrangement: Arrangement, thread: u32);
}

impl<const ITEMS: usize> Along<ITEMS> for () {
    const IS_SEEN: bool = false;
    #[inline(always)]
    fn write(&mut self, _: Arrangement, _: u32) {}
    #[inline(always)]
    fn scatter(&mut self, _: [u32; ITEMS]) {}
    #[inline(always)]
    fn read(&mut self, _: Arrangement, _: u32) {}
}

struct Values<V, const THREADS: usize, const ITEMS: usize> {
    values: [V; ITEMS],
    tile: Tile<V, THREADS, ITEMS>,
}

impl<V: Value, const THREADS: usize, const ITEMS: usize> Along<ITEMS> for Values<V, THREADS, ITEMS> {
    const IS_SEEN: bool = true;
    #[inline(always)]
    fn write(&mut self, arrangement: Arrangement, thread: u32) {
        // SAFETY: the thread's number in the block.
        unsafe { self.tile.write(arrangement, thread, self.values) };
    }
    #[inline(always)]
    fn scatter(&mut self, ranks: [u32; ITEMS]) {
        for (value, rank) in self.values.into_iter().zip(ranks) {
            self.tile.put(rank, value);
        }
    }
    #[inline(always)]
    fn read(&mut self, arrangement: Arrangement, thread: u32) {
        // SAFETY: the thread's number in the block.
        self.values = unsafe { self.tile.read(arrangement, thread) };
    }
}

/// How a sort goes.
struct Order {
    bits: Range<u32>,
    is_descending: bool,
    to: Arrangement,
}

impl Order {
    fn of<K: RadixKey>(is_descending: bool, to: Arrangement) -> Self {
        Self { bits: 0..K::BITS, is_descending, to }
    }
}

impl<K: RadixKey, const THREADS: usize, const ITEMS: usize> RadixSort<K, THREADS, ITEMS> {
    /// Sorts, the smallest key first: CUB's `Sort`.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort(&mut self, keys: [K; ITEMS]) -> [K; ITEMS] {
        self.run(keys, &mut (), Order::of::<K>(false, Arrangement::Blocked))
    }

    /// The same, with striped keys in the end: CUB's `SortBlockedToStriped`.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort_to_striped(&mut self, keys: [K; ITEMS]) -> [K; ITEMS] {
        self.run(keys, &mut (), Order::of::<K>(false, Arrangement::Striped))
    }

    /// Sorts, the largest key first: CUB's `SortDescending`.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort_descending(&mut self, keys: [K; ITEMS]) -> [K; ITEMS] {
        self.run(keys, &mut (), Order::of::<K>(true, Arrangement::Blocked))
    }

    /// The same, with striped keys in the end: CUB's `SortDescendingBlockedToStriped`.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort_descending_to_striped(&mut self, keys: [K; ITEMS]) -> [K; ITEMS] {
        self.run(keys, &mut (), Order::of::<K>(true, Arrangement::Striped))
    }

    /// [`sort`](Self::sort) by some bits of the keys alone: CUB's `Sort` with `begin_bit` and `end_bit`. Bit 0 is the lowest.
    /// Of signed integers and floats, bits are those of the unsigned integer that is in their order.
    ///
    /// # Panics
    /// If keys do not have these bits; and as [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn sort_bits(&mut self, keys: [K; ITEMS], bits: Range<u32>) -> [K; ITEMS] {
        let bits = checked::<K>(bits);
        self.run(keys, &mut (), Order { bits, is_descending: false, to: Arrangement::Blocked })
    }

    /// The `count` largest keys, the largest first and striped: CUB's `BlockTopK`. `None` past them.
    ///
    /// It sorts all.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn largest(&mut self, keys: [K; ITEMS], count: usize) -> [Option<K>; ITEMS] {
        let sorted = self.sort_descending_to_striped(keys);
        self.first(sorted, count)
    }

    /// The `count` smallest keys, the smallest first and striped: CUB's `BlockTopK`. `None` past them.
    ///
    /// It sorts all.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn smallest(&mut self, keys: [K; ITEMS], count: usize) -> [Option<K>; ITEMS] {
        let sorted = self.sort_to_striped(keys);
        self.first(sorted, count)
    }

    #[inline(always)]
    fn first(&self, keys: [K; ITEMS], count: usize) -> [Option<K>; ITEMS] {
        core::array::from_fn(|item| {
            let index = Arrangement::Striped.index::<THREADS, ITEMS>(self.thread, item);
            ((index as usize) < count).then_some(keys[item])
        })
    }

    /// Sorts, and moves `along` as the keys.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn run<A: Along<ITEMS>>(&mut self, keys: [K; ITEMS], along: &mut A, order: Order) -> [K; ITEMS] {
        let turned = |bits: K::Bits| if order.is_descending { K::flipped(bits) } else { bits };
        let mut keys = keys.map(|key| turned(key.to_ordered()));
        let Range { start: mut bit, end } = order.bits;
        if self.is_used {
            self.barrier.wait();
        }
        self.is_used = true;
        // Ranks keep the order of warp-striped keys. If keys that count as equal are equal, no one can tell.
        if A::IS_SEEN || bit > 0 || end < K::BITS || end == 0 {
            // SAFETY: the thread's number is less than `THREADS`.
            unsafe { self.tile.write(Arrangement::Blocked, self.thread, keys) };
            along.write(Arrangement::Blocked, self.thread);
            warp::sync_warp();
            let first = if bit < end { Arrangement::WarpStriped } else { Arrangement::Blocked };
            // SAFETY: as above.
            keys = unsafe { self.tile.read(first, self.thread) };
            along.read(first, self.thread);
        }
        while bit < end {
            let width = DIGIT.min(end - bit);
            let mask = (1 << width) - 1;
            let ranks = self.ranks.rank(&mut self.barrier, keys.map(|key| K::digit(key, bit, mask)));
            for (key, rank) in keys.into_iter().zip(ranks) {
                self.tile.put(rank, key);
            }
            along.scatter(ranks);
            self.barrier.wait();
            bit += width;
            let to = if bit < end { Arrangement::WarpStriped } else { order.to };
            // SAFETY: as above.
            keys = unsafe { self.tile.read(to, self.thread) };
            along.read(to, self.thread);
        }
        keys.map(|key| K::from_ordered(turned(key)))
    }
}

impl<K: RadixKey, V: Value, const THREADS: usize, const ITEMS: usize> RadixSortPairs<K, V, THREADS, ITEMS> {
    /// Sorts, the smallest key first: CUB's `Sort` with values. Pairs of equal keys keep their order.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort(&mut self, keys: [K; ITEMS], values: [V; ITEMS]) -> ([K; ITEMS], [V; ITEMS]) {
        self.run(keys, values, Order::of::<K>(false, Arrangement::Blocked))
    }

    /// The same, with striped pairs in the end: CUB's `SortBlockedToStriped`.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort_to_striped(&mut self, keys: [K; ITEMS], values: [V; ITEMS]) -> ([K; ITEMS], [V; ITEMS]) {
        self.run(keys, values, Order::of::<K>(false, Arrangement::Striped))
    }

    /// Sorts, the largest key first: CUB's `SortDescending` with values. Pairs of equal keys keep their order.
    ///
    /// # Panics
    /// As [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort_descending(&mut self, keys: [K; ITEMS], values: [V; ITEMS]) -> ([K; ITEMS], [V; ITEMS]) {
        self.run(keys, values, Order::of::<K>(true, Arrangement::Blocked))
    }

    /// [`sort`](Self::sort) by some bits of the keys alone. See [`RadixSort::sort_bits`].
    ///
    /// # Panics
    /// If keys do not have these bits; and as [`sort`](Self::sort).
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn sort_bits(&mut self, keys: [K; ITEMS], values: [V; ITEMS], bits: Range<u32>) -> ([K; ITEMS], [V; ITEMS]) {
        let bits = checked::<K>(bits);
        self.run(keys, values, Order { bits, is_descending: false, to: Arrangement::Blocked })
    }

    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn run(&mut self, keys: [K; ITEMS], values: [V; ITEMS], order: Order) -> ([K; ITEMS], [V; ITEMS]) {
        let mut along = Values { values, tile: self.values };
        let keys = self.keys.run(keys, &mut along, order);
        (keys, along.values)
    }
}

// SAFETY: whatever threads do, they access the memory by the tile's and the ranks' functions alone, within bounds.
unsafe impl<K: RadixKey, const THREADS: usize, const ITEMS: usize> SharedParam for RadixSort<K, THREADS, ITEMS> {
    type Storage = Keys<K::Bits, THREADS, ITEMS>;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        let thread = Shape::<THREADS>::thread();
        // SAFETY: the caller's promise; two parts of the memory.
        let (tile, ranks, barrier) = unsafe {
            (
                Tile::new(&raw mut (*storage).tile),
                Ranks::new(&raw mut (*storage).counts, thread),
                ObjectBarrier::new(barrier),
            )
        };
        Self { tile, ranks, thread, is_used: false, barrier }
    }
}

// SAFETY: as above.
unsafe impl<K: RadixKey, V: Value, const THREADS: usize, const ITEMS: usize> SharedParam
    for RadixSortPairs<K, V, THREADS, ITEMS>
{
    type Storage = Pairs<K::Bits, V, THREADS, ITEMS>;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise; two parts of the memory.
        unsafe {
            Self {
                keys: RadixSort::make(&raw mut (*storage).keys, barrier),
                values: Tile::new(&raw mut (*storage).values),
            }
        }
    }
}

impl<K: RadixKey, const THREADS: usize, const ITEMS: usize> fmt::Debug for RadixSort<K, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RadixSort").finish_non_exhaustive()
    }
}

impl<K: RadixKey, V: Value, const THREADS: usize, const ITEMS: usize> fmt::Debug
    for RadixSortPairs<K, V, THREADS, ITEMS>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RadixSortPairs").finish_non_exhaustive()
    }
}

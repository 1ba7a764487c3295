//! Tiles of several warps.

use core::cell::Cell;
use core::fmt;

use ptx_abi::bits::Plain;

use super::{Group, Number, WarpGroup, tile};
use crate::atomic::{Atomic, Block, Ordering};
use crate::index::{rank_in_block, threads_of_block};
use crate::shared::SharedParam;
use crate::shared::barrier::PartBarrier;
use crate::warp::{ReduceBits, by_words};

/// Threads of a warp.
const WARP: u32 = 32;
/// Most warps of a block.
const MOST_WARPS: usize = 32;
/// Most words of a value that threads exchange.
const WORDS: usize = 4;

/// What a warp leaves for the others.
type Slot = [Atomic<u32, Block>; WORDS];
/// A slot for each warp, twice: by turns, so that one barrier an operation is enough.
type Slots = [[Slot; MOST_WARPS]; 2];

/// `N` neighbouring threads of a block of `THREADS`, `N` being 64, 128, 256 or 512: CUDA's `thread_block_tile<N>` of
/// several warps, `tiled_partition<N>(this_thread_block(memory))`.
///
/// A kernel gets the caller's tile as a parameter with `#[shared]`, which has the memory, CUDA's `block_tile_memory`: 1 KiB.
/// Threads are counted with x first. All of a tile's threads must make the same calls in the same order, wherever those of
/// the other tiles are. A thread of the tile that does not come makes the others wait for ever; whether one that has ended
/// counts is the GPU's choice.
///
/// Each tile has one of the block's 16 hardware barriers for itself, and an operation takes it once (PTX
/// `barrier.sync n, N`). So a kernel can have 15 tiles a block, of all its `BlockTile`s together, less a barrier for each
/// other `#[shared]` parameter: 64 threads in blocks of 1024 are too many, which is an error of the build.
///
/// ```
/// use ptx::cooperative::{BlockTile, Group as _};
/// use ptx::prelude::*;
///
/// /// Leaves in every element its share of the sum of its 64.
/// #[kernel(launch_bounds(256))]
/// pub fn shares(mut x: DisjointSlice<f32>, #[shared] tile: BlockTile<64, 256>) {
///     let i = thread::index_1d();
///     // Threads past the end take part, too.
///     let sum = tile.reduce_add(x.get_mut(i).map_or(0.0, |x| *x));
///     if let Some(x) = x.get_mut(i) {
///         *x /= sum;
///     }
/// }
/// ```
///
/// # Why it is safe
/// Threads reach the memory by relaxed atomics of 32 bits alone, and values are of types that any bits are a value of. So
/// whatever threads do, however they diverge and which of them end, there is no data race, only any value; and threads that
/// wait for ever. No other object has the tile's barrier, and all of its threads come to it with the same count, as the
/// PTX ISA asks ("barrier"), because the block's size is compared with `THREADS` where the kernel begins.
pub struct BlockTile<const N: u32, const THREADS: u32> {
    slots: *const Slots,
    turn: Cell<usize>,
    /// In the block.
    thread: u32,
    barrier: PartBarrier<N>,
}

impl<const N: u32, const THREADS: u32> Group for BlockTile<N, THREADS> {
    #[inline(always)]
    fn size(&self) -> u32 {
        N
    }

    #[inline(always)]
    fn rank(&self) -> u32 {
        self.thread % N
    }

    /// Waits for all threads of the tile: PTX `barrier.sync n, N`.
    ///
    /// # Panics
    /// In debug builds, if another thread of the tile waits at another place in the code; so do all operations.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn sync(&self) {
        self.barrier.wait();
    }
}

macro_rules! reductions {
    ($($(#[doc = $doc:literal])* $name:ident: $bound:ident, |$value:ident| $of_warp:expr, $two:expr;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Panics
        /// In debug builds, if another thread of the tile came here from another place in the code.
        #[inline(always)]
        #[must_use]
        #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
        pub fn $name<T: $bound>(&self, $value: T) -> T {
            self.of_warps($of_warp, $two)
        }
    )*};
}

impl<const N: u32, const THREADS: u32> BlockTile<N, THREADS> {
    const WARPS: u32 = {
        assert!(N.is_power_of_two() && N >= 64 && N <= 512, "a tile of several warps has 64, 128, 256 or 512 threads");
        N / WARP
    };
    const TILES: u32 = {
        assert!(
            Self::WARPS > 0 && THREADS <= 1024 && THREADS >= N && THREADS.is_multiple_of(N),
            "a block of at most 1024 threads is parted into tiles, without a rest"
        );
        assert!(
            THREADS / N <= 15,
            "each tile needs one of the 15 barriers of a block: take larger tiles, or smaller blocks"
        );
        THREADS / N
    };

    /// The tile's number in the block: CUDA's `meta_group_rank()`.
    #[inline(always)]
    #[must_use]
    pub fn number(&self) -> u32 {
        self.thread / N
    }

    /// How many tiles the block has: CUDA's `meta_group_size()`.
    #[inline(always)]
    #[must_use]
    pub fn count(&self) -> u32 {
        Self::TILES
    }

    /// Whether `condition` holds in all threads of the tile: CUDA's `all`, PTX `barrier.red.and.pred`. It waits as
    /// [`sync`](Group::sync) does.
    ///
    /// # Panics
    /// In debug builds, if another thread of the tile came here from another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn all(&self, condition: bool) -> bool {
        self.barrier.all(condition)
    }

    /// Whether `condition` holds in any thread of the tile: CUDA's `any`, PTX `barrier.red.or.pred`. It waits as
    /// [`sync`](Group::sync) does.
    ///
    /// # Panics
    /// As [`all`](Self::all).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn any(&self, condition: bool) -> bool {
        self.barrier.any(condition)
    }

    /// In how many threads of the tile `condition` holds: PTX `barrier.red.popc.u32`. CUDA's tiles do not have it. It waits
    /// as [`sync`](Group::sync) does.
    ///
    /// # Panics
    /// As [`all`](Self::all).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn count_of(&self, condition: bool) -> u32 {
        self.barrier.count(condition)
    }

    /// The value of the thread with that rank, which must be the same in all threads: CUDA's `shfl`. Values have at most 16
    /// bytes.
    ///
    /// If that thread has ended, or if there is none of that rank, the value is any; if the ranks differ, it is that of any
    /// of them.
    ///
    /// # Panics
    /// In debug builds, if there is no thread of that rank, if the ranks differ, or if another thread of the tile came here
    /// from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn shuffle<T: Plain + Copy>(&self, value: T, rank: u32) -> T {
        #[cfg(debug_assertions)]
        {
            assert!(rank < N, "a value is asked for of a thread past the end of its tile");
            let of_first = self.of_rank(rank, 0);
            assert!(rank == of_first, "threads of a tile of several warps ask for the values of different ranks");
        }
        self.of_rank(value, rank)
    }

    /// What `combine` makes of all threads' values, in all threads: CUDA's `reduce`. `combine` must be associative and
    /// commutative, or the result is any of those that an order gives. Values have at most 16 bytes.
    ///
    /// # Panics
    /// As [`all`](Self::all).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reduce<T: Plain + Copy>(&self, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        self.of_warps(tile::<32>().reduce(value, &mut combine), combine)
    }

    reductions! {
        /// The sum of all threads' values: CUDA's `reduce` with `plus`. `redux.sync` a warp for integers of up to 32 bits,
        /// from sm_80 on. Sums of integers wrap; those of floats are added in the same order every time.
        reduce_add: Number, |value| value.sum_of_warp(), T::plus;
        /// The smallest of all threads' values: CUDA's `reduce` with `less`. NaNs are passed over.
        reduce_min: Number, |value| value.smallest_of_warp(), T::smaller;
        /// The largest of all threads' values: CUDA's `reduce` with `greater`. NaNs are passed over.
        reduce_max: Number, |value| value.largest_of_warp(), T::larger;
        /// The bits that are set in all threads: CUDA's `reduce` with `bit_and`.
        reduce_and: ReduceBits, |value| tile::<32>().reduce_and(value), |a, b| T::of_word(a.to_word() & b.to_word());
        /// The bits that are set in any thread: CUDA's `reduce` with `bit_or`.
        reduce_or: ReduceBits, |value| tile::<32>().reduce_or(value), |a, b| T::of_word(a.to_word() | b.to_word());
        /// The bits that are set in an odd number of threads: CUDA's `reduce` with `bit_xor`.
        reduce_xor: ReduceBits, |value| tile::<32>().reduce_xor(value), |a, b| T::of_word(a.to_word() ^ b.to_word());
    }

    /// What `combine` makes of the values of all threads up to the caller, in the order of their ranks: CUDA's
    /// `inclusive_scan`. `combine` must be associative. Values have at most 16 bytes.
    ///
    /// # Panics
    /// As [`all`](Self::all).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn inclusive_scan<T: Plain + Copy>(&self, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let up_to_here = tile::<32>().inclusive_scan(value, &mut combine);
        match self.of_lower_warps(up_to_here, &mut combine) {
            Some(below) => combine(below, up_to_here),
            None => up_to_here,
        }
    }

    /// What `combine` makes of the values of all threads below the caller, in the order of their ranks, `identity` in the
    /// first: CUDA's `exclusive_scan`. `combine` must be associative. Values have at most 16 bytes.
    ///
    /// # Panics
    /// As [`all`](Self::all).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn exclusive_scan<T: Plain + Copy>(&self, value: T, identity: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let up_to_here = tile::<32>().inclusive_scan(value, &mut combine);
        let of_warp = tile::<32>().shuffle_up(up_to_here, 1);
        match (self.of_lower_warps(up_to_here, &mut combine), of_warp) {
            (Some(below), Some(of_warp)) => combine(below, of_warp),
            (Some(below), None) => below,
            (None, of_warp) => of_warp.unwrap_or(identity),
        }
    }

    /// Calls a function in the tile's first thread, and gives its result there: CUDA's `invoke_one`. It waits for nobody.
    #[inline(always)]
    pub fn invoke_one<R>(&self, function: impl FnOnce() -> R) -> Option<R> {
        if self.rank() == 0 { Some(function()) } else { None }
    }

    /// Calls a function in the tile's first thread, and gives its result to all: CUDA's `invoke_one_broadcast`, which it has
    /// for tiles of a warp alone. Results have at most 16 bytes.
    ///
    /// # Panics
    /// As [`all`](Self::all).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn invoke_one_broadcast<R: Plain + Copy + Default>(&self, function: impl FnOnce() -> R) -> R {
        let result = if self.rank() == 0 { function() } else { R::default() };
        self.of_rank(result, 0)
    }

    /// The value of the thread with that rank.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn of_rank<T: Plain + Copy>(&self, value: T, rank: u32) -> T {
        if self.rank() == rank {
            self.put(0, value);
        }
        self.barrier.wait();
        let result = self.get(0, value);
        self.next();
        result
    }

    /// What `combine` makes of the warps' values.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn of_warps<T: Plain + Copy>(&self, of_warp: T, mut combine: impl FnMut(T, T) -> T) -> T {
        if self.thread.is_multiple_of(WARP) {
            self.put(self.warp(), of_warp);
        }
        self.barrier.wait();
        let result = if Self::WARPS == 16 {
            // Every warp reduces them again, which takes fewer instructions than one after the other.
            tile::<16>().reduce(self.get(self.thread % 16, of_warp), combine)
        } else {
            let mut result = self.get(0, of_warp);
            for warp in 1..Self::WARPS {
                result = combine(result, self.get(warp, of_warp));
            }
            result
        };
        self.next();
        result
    }

    /// What `combine` makes of the values in the last lanes of the warps below; `None` in the first warp.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn of_lower_warps<T: Plain + Copy>(&self, value: T, combine: &mut impl FnMut(T, T) -> T) -> Option<T> {
        if self.thread % WARP == WARP - 1 {
            self.put(self.warp(), value);
        }
        self.barrier.wait();
        let mut below = None;
        for warp in 0..Self::WARPS - 1 {
            if warp < self.warp() {
                let of_warp = self.get(warp, value);
                below = Some(match below {
                    Some(below) => combine(below, of_warp),
                    None => of_warp,
                });
            }
        }
        self.next();
        below
    }

    /// The caller's warp in the tile.
    #[inline(always)]
    fn warp(&self) -> u32 {
        self.rank() / WARP
    }

    /// The slot of a warp of the tile.
    #[inline(always)]
    fn slot(&self, warp: u32) -> &Slot {
        // A thread's number is below `THREADS`, and so its tile's warps below `MOST_WARPS`; the remainders tell the compiler.
        let at = (self.number() * Self::WARPS + warp % Self::WARPS) as usize % MOST_WARPS;
        // SAFETY: memory of the block's, which threads reach as atomics alone; any bits are a value.
        unsafe { &(*self.slots)[self.turn.get() % 2][at] }
    }

    #[inline(always)]
    fn put<T: Plain + Copy>(&self, warp: u32, value: T) {
        const { assert!(size_of::<T>() <= 4 * WORDS, "a tile of several warps exchanges values of at most 16 bytes") };
        let mut words = self.slot(warp).iter();
        by_words(value, |word| {
            if let Some(place) = words.next() {
                place.store(word, Ordering::Relaxed);
            }
            word
        });
    }

    /// What a warp left; `like` is any value.
    #[inline(always)]
    fn get<T: Plain + Copy>(&self, warp: u32, like: T) -> T {
        let mut words = self.slot(warp).iter();
        by_words(like, |word| words.next().map_or(word, |place| place.load(Ordering::Relaxed)))
    }

    /// The next operation has the other slots, which all have read before they came to this one's barrier.
    #[inline(always)]
    fn next(&self) {
        self.turn.set(self.turn.get() ^ 1);
    }
}

// SAFETY: the documentation of the type.
unsafe impl<const N: u32, const THREADS: u32> SharedParam for BlockTile<N, THREADS> {
    type Storage = Slots;
    const BARRIERS: u32 = Self::TILES;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Slots, barrier: u32) -> Self {
        let (thread, threads) = (rank_in_block(), threads_of_block());
        assert!(
            threads == THREADS,
            "a kernel with tiles of blocks of {THREADS} threads was launched with blocks of {threads}"
        );
        // SAFETY: the threads of a tile get the same number, all other threads others; the block is parted without a rest.
        let barrier = unsafe { PartBarrier::new(barrier + thread / N) };
        Self { slots: storage, turn: Cell::new(0), thread, barrier }
    }
}

impl<const N: u32, const THREADS: u32> fmt::Debug for BlockTile<N, THREADS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTile").field("number", &self.number()).field("rank", &self.rank()).finish_non_exhaustive()
    }
}

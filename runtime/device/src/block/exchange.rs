//! Values that change places between the threads of a block.

use core::fmt;

use super::memory::Value;
use super::threads::Shape;
use super::tile::{Arrangement, Memory, Tile};
use super::transfer::{load_warp_striped, store_striped};
use crate::disjoint::Part;
use crate::disjoint::group::Block;
use crate::shared::{ObjectBarrier, SharedParam};
use crate::warp;

/// Exchanges of `ITEMS` values of each of a block's `THREADS` threads: CUB's `BlockExchange<T, THREADS, ITEMS>`.
///
/// | arrangement | value `i` of thread `t` is value … of the tile |
/// |---|---|
/// | blocked | `t * ITEMS + i` |
/// | striped | `i * THREADS + t` |
/// | warp-striped | `w * 32 * ITEMS + i * 32 + t % 32`, `w` being the warp's number |
///
/// A call writes all values into shared memory, waits at one barrier, and reads them; a call after the first waits
/// once more, before it writes. Between warp-striped and blocked no barrier is needed: warps keep their values. Nor
/// does a call wait before it writes, if warps read from their own parts in the call before and write to them now, as
/// in [`load`](Self::load) and then [`store`](Self::store). The memory is that of all values, and 1/32 more where
/// `ITEMS` is even, so that banks do not conflict (at least 32 `ITEMS` more).
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
///
/// ```
/// use ptx::block::{self, Exchange};
/// use ptx::PerBlock;
/// use ptx::prelude::*;
///
/// /// Sums of every four elements up to each. Memory is read and written by neighbouring threads.
/// #[kernel(dimensions = 1, launch_bounds(128))]
/// pub fn sums(x: &[u32], mut sums: PerBlock<u32, 512>, #[shared] mut tile: Exchange<u32, 128, 4>) {
///     let mut part = sums.part();
///     let mut own = tile.load(x.get(part.start()..).unwrap_or(&[]), 0);
///     for i in 1..4 {
///         own[i] += own[i - 1];
///     }
///     tile.store(&mut part, own);
/// }
/// ```
pub struct Exchange<T, const THREADS: usize, const ITEMS: usize> {
    tile: Tile<T, THREADS, ITEMS>,
    thread: u32,
    used: Used,
    barrier: ObjectBarrier,
}

macro_rules! rearrangements {
    ($($(#[doc = $doc:literal])* $name:ident: $from:ident $to:ident;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Panics
        /// In debug builds, if another thread came here from another place in the code.
        #[inline(always)]
        #[must_use]
        #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
        pub fn $name(&mut self, values: [T; ITEMS]) -> [T; ITEMS] {
            self.rearrange(Arrangement::$from, Arrangement::$to, values)
        }
    )*};
}

impl<T: Value, const THREADS: usize, const ITEMS: usize> Exchange<T, THREADS, ITEMS> {
    rearrangements! {
        /// From blocked to striped: CUB's `BlockedToStriped`.
        blocked_to_striped: Blocked Striped;
        /// From striped to blocked: CUB's `StripedToBlocked`.
        striped_to_blocked: Striped Blocked;
        /// From blocked to warp-striped: CUB's `BlockedToWarpStriped`.
        blocked_to_warp_striped: Blocked WarpStriped;
        /// From warp-striped to blocked: CUB's `WarpStripedToBlocked`.
        warp_striped_to_blocked: WarpStriped Blocked;
    }

    /// Puts each value where its rank in the tile says, and reads them blocked: CUB's `ScatterToBlocked`.
    ///
    /// A place that no rank names has any value; one that several name has one of theirs. Ranks past the tile's end
    /// stand for any place.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn scatter_to_blocked(&mut self, values: [T; ITEMS], ranks: [u32; ITEMS]) -> [T; ITEMS] {
        self.scatter(values, ranks.map(Some));
        self.read(Arrangement::Blocked)
    }

    /// Puts each value where its rank in the tile says, and reads them striped: CUB's `ScatterToStriped`. See
    /// [`scatter_to_blocked`](Self::scatter_to_blocked).
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn scatter_to_striped(&mut self, values: [T; ITEMS], ranks: [u32; ITEMS]) -> [T; ITEMS] {
        self.scatter(values, ranks.map(Some));
        self.read(Arrangement::Striped)
    }

    /// The same of the values that have a rank: CUB's `ScatterToStripedGuarded` and `ScatterToStripedFlagged`.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn scatter_some_to_striped(&mut self, values: [T; ITEMS], ranks: [Option<u32>; ITEMS]) -> [T; ITEMS] {
        self.scatter(values, ranks);
        self.read(Arrangement::Striped)
    }

    /// A blocked tile from the beginning of a slice, which neighbouring threads read from neighbouring places: CUB's
    /// `BlockLoad` with `BLOCK_LOAD_WARP_TRANSPOSE`. Past the end of the slice values are `default`.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn load(&mut self, from: &[T], default: T) -> [T; ITEMS] {
        let values = load_warp_striped::<T, THREADS, ITEMS>(from, self.thread, default);
        self.warp_striped_to_blocked(values)
    }

    /// Stores a blocked tile in the block's part of a slice, so that neighbouring threads write neighbouring places:
    /// CUB's `BlockStore` with `BLOCK_STORE_TRANSPOSE`. What the part has no room for is left out.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn store(&mut self, to: &mut Part<'_, T, Block>, values: [T; ITEMS]) {
        let values = self.blocked_to_striped(values);
        store_striped(to, values);
    }

    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn rearrange(&mut self, from: Arrangement, to: Arrangement, values: [T; ITEMS]) -> [T; ITEMS] {
        self.begin(from != Arrangement::Striped);
        self.used = if to == Arrangement::Striped { Used::ByBlock } else { Used::ByWarps };
        // SAFETY: the thread's number is less than `THREADS`.
        unsafe { self.tile.write(from, self.thread, values) };
        if from != Arrangement::Striped && to != Arrangement::Striped {
            // Each warp reads what it wrote.
            warp::sync_warp();
        } else {
            self.barrier.wait();
        }
        self.read(to)
    }

    /// What the last scatter put at a rank, or at the last one.
    #[inline(always)]
    pub(super) fn scattered(&self, rank: u32) -> T {
        // SAFETY: less than the tile's length.
        unsafe { self.tile.get(rank.min((THREADS * ITEMS) as u32 - 1)) }
    }

    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn scatter(&mut self, values: [T; ITEMS], ranks: [Option<u32>; ITEMS]) {
        self.scatter_and(values, ranks, None);
    }

    /// Puts each value that has a rank where that says, and one more value.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub(super) fn scatter_and(&mut self, values: [T; ITEMS], ranks: [Option<u32>; ITEMS], more: Option<(u32, T)>) {
        self.begin(false);
        self.used = Used::ByBlock;
        if let Some((rank, value)) = more {
            self.tile.put(rank, value);
        }
        for (value, rank) in values.into_iter().zip(ranks) {
            if let Some(rank) = rank {
                self.tile.put(rank, value);
            }
        }
        self.barrier.wait();
    }

    /// The calling thread's number, less than `THREADS`.
    #[inline(always)]
    pub(super) fn thread(&self) -> u32 {
        self.thread
    }

    #[inline(always)]
    fn read(&self, arrangement: Arrangement) -> [T; ITEMS] {
        // SAFETY: the thread's number is less than `THREADS`.
        unsafe { self.tile.read(arrangement, self.thread) }
    }

    /// Waits until others have read what this thread is going to overwrite, which is in its warp's part alone if it
    /// `stays_in_warp`.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn begin(&mut self, stays_in_warp: bool) {
        match self.used {
            Used::Not => {}
            Used::ByWarps if stays_in_warp => warp::sync_warp(),
            Used::ByWarps | Used::ByBlock => self.barrier.wait(),
        }
    }
}

/// Who read from the memory last.
#[derive(Clone, Copy)]
enum Used {
    /// Nobody.
    Not,
    /// Each thread, from the part that its warp's blocked items are in. What other warps wrote there, they wrote before
    /// the barrier that came then.
    ByWarps,
    /// Each thread, from anywhere.
    ByBlock,
}

// SAFETY: whatever threads do, they access the memory by the tile's functions alone, within bounds.
unsafe impl<T: Value, const THREADS: usize, const ITEMS: usize> SharedParam for Exchange<T, THREADS, ITEMS> {
    type Storage = Memory<T, THREADS, ITEMS>;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let (tile, barrier) = unsafe { (Tile::new(storage), ObjectBarrier::new(barrier)) };
        Self { tile, thread: Shape::<THREADS>::thread(), used: Used::Not, barrier }
    }
}

impl<T, const THREADS: usize, const ITEMS: usize> fmt::Debug for Exchange<T, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

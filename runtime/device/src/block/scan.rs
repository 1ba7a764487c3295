//! Scans over a block.

use core::fmt;

use super::memory::{Value, get, set};
use super::number::Number;
use super::reduce::own;
use super::threads::{MOST_WARPS, Shape, WARP};
use crate::cooperative::{WarpGroup, tile};
use crate::shared::{ObjectBarrier, SharedParam};

/// Most warps whose values each thread goes through one by one.
const FEW: usize = 8;

/// Scans of a `T` from each of a block's `THREADS` threads: CUB's `BlockScan<T, THREADS, BLOCK_SCAN_WARP_SCANS>`.
///
/// Every warp scans its values by shuffles, and leaves its total in shared memory. After one barrier every thread
/// combines those of the warps before its own. It takes up to 64 `T` of shared memory, and a barrier a call.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
/// Operators must be associative; they need not be commutative.
///
/// ```
/// use ptx::block::Scan;
/// use ptx::prelude::*;
///
/// /// Sums of all elements of a block up to each.
/// #[kernel(dimensions = 1, launch_bounds(256))]
/// pub fn sums(x: &[u32], mut sums: DisjointSlice<u32>, #[shared] mut block: Scan<u32, 256>) {
///     let i = thread::index_1d();
///     let sum = block.inclusive_sum(x.get(i.get()).copied().unwrap_or(0));
///     if let Some(out) = sums.get_mut(i) {
///         *out = sum;
///     }
/// }
/// ```
pub struct Scan<T, const THREADS: usize> {
    /// A total for each warp, twice: by turns, so that one barrier a call is enough.
    totals: *mut [[T; MOST_WARPS]; 2],
    turn: usize,
    thread: u32,
    barrier: ObjectBarrier,
}

/// What a scan finds for one thread.
#[derive(Clone, Copy, Debug)]
pub struct Scanned<T> {
    /// What the operator makes of the values of all threads up to this one.
    pub inclusive: T,
    /// The same without this thread's own; `None` in the first.
    pub exclusive: Option<T>,
    /// What it makes of all threads' values.
    pub total: T,
}

impl<T: Value, const THREADS: usize> Scan<T, THREADS> {
    const WARPS: usize = Shape::<THREADS>::WARPS;

    /// What `combine` makes of the values up to this thread, before it, and of all: CUB's `InclusiveScan` and
    /// `ExclusiveScan` with `block_aggregate`, in one call.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn scan(&mut self, value: T, mut combine: impl FnMut(T, T) -> T) -> Scanned<T> {
        let warp = tile::<32>();
        let in_warp = warp.inclusive_scan(value, &mut combine);
        let before = warp.shuffle_up(in_warp, 1);
        let (below, total) = self.of_warps(in_warp, &mut combine);
        let Some(below) = below else { return Scanned { inclusive: in_warp, exclusive: before, total } };
        Scanned {
            inclusive: combine(below, in_warp),
            exclusive: Some(match before {
                Some(before) => combine(below, before),
                None => below,
            }),
            total,
        }
    }

    /// What `combine` makes of the values up to this thread: CUB's `InclusiveScan`.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn inclusive(&mut self, value: T, combine: impl FnMut(T, T) -> T) -> T {
        self.scan(value, combine).inclusive
    }

    /// What `combine` makes of `initial` and the values before this thread: CUB's `ExclusiveScan`.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn exclusive(&mut self, value: T, initial: T, mut combine: impl FnMut(T, T) -> T) -> T {
        match self.scan(value, &mut combine).exclusive {
            Some(before) => combine(initial, before),
            None => initial,
        }
    }

    /// [`exclusive`](Self::exclusive) from `carry` on, to which the total is then added: CUB's
    /// `BlockPrefixCallbackOp`, for a block that goes through several tiles. Every thread keeps the carry.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn exclusive_from(&mut self, carry: &mut T, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let found = self.scan(value, &mut combine);
        let before = *carry;
        *carry = combine(before, found.total);
        match found.exclusive {
            Some(values) => combine(before, values),
            None => before,
        }
    }

    /// [`inclusive`](Self::inclusive) of several values a thread, in a row: their totals, and that of all threads.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn inclusive_items<const ITEMS: usize>(
        &mut self,
        mut values: [T; ITEMS],
        mut combine: impl FnMut(T, T) -> T,
    ) -> ([T; ITEMS], T) {
        let found = self.scan(own(values, &mut combine), &mut combine);
        let mut sum = found.exclusive;
        for value in &mut values {
            *value = match sum {
                Some(sum) => combine(sum, *value),
                None => *value,
            };
            sum = Some(*value);
        }
        (values, found.total)
    }

    /// [`exclusive`](Self::exclusive) of several values a thread, in a row: their totals, and that of all threads
    /// without `initial`.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn exclusive_items<const ITEMS: usize>(
        &mut self,
        mut values: [T; ITEMS],
        initial: T,
        mut combine: impl FnMut(T, T) -> T,
    ) -> ([T; ITEMS], T) {
        let found = self.scan(own(values, &mut combine), &mut combine);
        let mut sum = match found.exclusive {
            Some(before) => combine(initial, before),
            None => initial,
        };
        for value in &mut values {
            let next = combine(sum, *value);
            *value = sum;
            sum = next;
        }
        (values, found.total)
    }

    /// What `combine` makes of the totals of the warps before this one, `None` in the first, and of all.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn of_warps(&mut self, in_warp: T, combine: &mut impl FnMut(T, T) -> T) -> (Option<T>, T) {
        let warp = self.thread as usize / WARP;
        if Self::WARPS == 1 {
            return (None, tile::<32>().shuffle(in_warp, 31));
        }
        self.leave(in_warp);
        let both = if Self::WARPS <= FEW {
            let mut total = self.total(0);
            let mut below = total;
            for other in 1..Self::WARPS {
                if other == warp {
                    below = total;
                }
                total = combine(total, self.total(other));
            }
            (below, total)
        } else {
            // Every warp scans the totals. Lanes past the last warp take its total again, which nobody looks at.
            let lanes = tile::<32>();
            let lane = self.thread as usize % WARP;
            let totals = lanes.inclusive_scan(self.total(lane.min(Self::WARPS - 1)), combine);
            (lanes.shuffle(totals, warp.saturating_sub(1) as u32), lanes.shuffle(totals, Self::WARPS as u32 - 1))
        };
        self.turn ^= 1;
        (if warp > 0 { Some(both.0) } else { None }, both.1)
    }

    /// Leaves the warp's total for the others, and waits for theirs.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn leave(&mut self, in_warp: T) {
        if self.thread as usize % WARP == WARP - 1 {
            // SAFETY: a thread's number is less than `THREADS`, so the warp's is less than `MOST_WARPS`.
            unsafe { set(self.place(self.thread as usize / WARP), in_warp) };
        }
        self.barrier.wait();
    }

    #[inline(always)]
    fn total(&self, warp: usize) -> T {
        // SAFETY: callers ask for warps of the block.
        unsafe { get(self.place(warp)) }
    }

    /// Where the total of a warp below `MOST_WARPS` lies.
    #[inline(always)]
    fn place(&self, warp: usize) -> *mut T {
        // `turn` is 0 or 1.
        self.totals.cast::<T>().wrapping_add(self.turn % 2 * MOST_WARPS + warp)
    }
}

impl<T: Number, const THREADS: usize> Scan<T, THREADS> {
    /// The sum of the values up to this thread: CUB's `InclusiveSum`.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn inclusive_sum(&mut self, value: T) -> T {
        self.sums(value).0
    }

    /// The sum of the values before this thread, 0 in the first, and of all: CUB's `ExclusiveSum` with
    /// `block_aggregate`.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn exclusive_sum(&mut self, value: T) -> (T, T) {
        let (_, before, total) = self.sums(value);
        (before, total)
    }

    /// [`inclusive_sum`](Self::inclusive_sum) of several values a thread, in a row, and the sum of all.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn inclusive_sum_items<const ITEMS: usize>(&mut self, mut values: [T; ITEMS]) -> ([T; ITEMS], T) {
        let (_, mut sum, total) = self.sums(own(values, &mut T::plus));
        for value in &mut values {
            sum = sum.plus(*value);
            *value = sum;
        }
        (values, total)
    }

    /// [`exclusive_sum`](Self::exclusive_sum) of several values a thread, in a row, and the sum of all.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn exclusive_sum_items<const ITEMS: usize>(&mut self, mut values: [T; ITEMS]) -> ([T; ITEMS], T) {
        let (_, mut sum, total) = self.sums(own(values, &mut T::plus));
        for value in &mut values {
            let next = sum.plus(*value);
            *value = sum;
            sum = next;
        }
        (values, total)
    }

    /// The sums up to this thread, before it, and of all.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn sums(&mut self, value: T) -> (T, T, T) {
        let (in_warp, before) = value.sums_of_warp();
        let (below, total) = self.of_warps(in_warp, &mut T::plus);
        let below = below.unwrap_or(T::ZERO);
        (below.plus(in_warp), below.plus(before), total)
    }
}

// SAFETY: whatever threads do, they access the memory by `get` and `set` alone, within bounds.
unsafe impl<T: Value, const THREADS: usize> SharedParam for Scan<T, THREADS> {
    type Storage = [[T; MOST_WARPS]; 2];

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let barrier = unsafe { ObjectBarrier::new(barrier) };
        Self { totals: storage, turn: 0, thread: Shape::<THREADS>::thread(), barrier }
    }
}

impl<T, const THREADS: usize> fmt::Debug for Scan<T, THREADS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").finish_non_exhaustive()
    }
}

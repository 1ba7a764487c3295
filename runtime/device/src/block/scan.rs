//! Scans over a block.

use core::fmt;

use super::memory::Value;
use super::reduce::own;
use super::threads::{Shape, WARP};
use super::tile::Memory;
use crate::cooperative::{Number, WarpGroup, tile};
use crate::shared::{ObjectBarrier, SharedParam};

/// Scans of a `T` from each of a block's `THREADS` threads: CUB's `BlockScan<T, THREADS, BLOCK_SCAN_RAKING>`.
///
/// Every thread leaves its value in shared memory. The first warp scans them all, each lane a run of `THREADS` / 32, and
/// the lanes' totals by shuffles; the others only wait. That takes two barriers a call, and two times `THREADS` + 32 `T` of
/// shared memory. A block of one warp uses shuffles alone.
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
    /// A value for each thread, twice: by turns, so that no barrier is needed between one call's reads and the next one's
    /// writes.
    values: *mut [Memory<T, THREADS, 1>; 2],
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
        self.scan_with(value, &mut combine, |value, combine| {
            let up_to_here = tile::<32>().inclusive_scan(value, combine);
            (up_to_here, tile::<32>().shuffle_up(up_to_here, 1))
        })
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

    /// The scan, where `in_warp` finds the first warp's sums up to each lane and before it.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn scan_with<F: FnMut(T, T) -> T>(
        &mut self,
        value: T,
        combine: &mut F,
        in_warp: impl FnOnce(T, &mut F) -> (T, Option<T>),
    ) -> Scanned<T> {
        if Self::WARPS == 1 {
            let (inclusive, exclusive) = in_warp(value, combine);
            return Scanned { inclusive, exclusive, total: tile::<32>().shuffle(inclusive, 31) };
        }
        let thread = self.thread;
        // SAFETY: as in `read`; only this thread accesses the place now.
        unsafe { self.place(thread).write(value) };
        self.barrier.wait();
        if thread < WARP as u32 {
            self.rake(thread, combine, in_warp);
        }
        self.barrier.wait();
        let inclusive = self.read(thread);
        let exclusive = if thread > 0 { Some(self.read(thread - 1)) } else { None };
        let total = self.read(THREADS as u32 - 1);
        self.turn ^= 1;
        Scanned { inclusive, exclusive, total }
    }

    /// Puts the sums up to each in the place of the values: of all, by the first warp, of which this is a lane.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn rake<F: FnMut(T, T) -> T>(
        &mut self,
        lane: u32,
        combine: &mut F,
        in_warp: impl FnOnce(T, &mut F) -> (T, Option<T>),
    ) {
        // The lane's run has no free place within. From its address all others are constant distances, so that LLVM
        // sees that a sum which is written is no value that is still to be read.
        let first = self.place(lane * Self::WARPS as u32);
        // SAFETY: `at` is less than `WARPS`, so this is in the memory, and for the rest see `read`.
        let read = |at| unsafe { first.wrapping_add(at).read() };
        let mut own = read(0);
        for at in 1..Self::WARPS {
            own = combine(own, read(at));
        }
        let (_, mut before) = in_warp(own, combine);
        for at in 0..Self::WARPS {
            let sum = match before {
                Some(before) => combine(before, read(at)),
                None => read(at),
            };
            // SAFETY: as above.
            unsafe { first.wrapping_add(at).write(sum) };
            before = Some(sum);
        }
    }

    #[inline(always)]
    fn read(&self, thread: u32) -> T {
        // SAFETY: callers ask for threads of the block; any bits are a value. Accesses are ordinary ones, and no two race,
        // however threads come here: this object's barrier is its own, and `scan_with` is all that waits for it. So threads
        // pass it in the same order: between the first barrier of a call and its second only the first warp accesses the
        // values, each lane its own. What is read after the second is written again in the call after the next, to whose
        // first access a thread comes when all have come to the next call's first barrier.
        unsafe { self.place(thread).read() }
    }

    /// Where the value of a thread below `THREADS` lies. Where lanes would begin an even number apart, and so meet in the
    /// same banks, one is left free after each lane's.
    #[inline(always)]
    fn place(&self, thread: u32) -> *mut T {
        let free = if Self::WARPS.is_multiple_of(2) { thread / Self::WARPS as u32 } else { 0 };
        // `turn` is 0 or 1, and the memory has room for 32 more.
        self.values
            .cast::<Memory<T, THREADS, 1>>()
            .wrapping_add(self.turn % 2)
            .cast::<T>()
            .wrapping_add((thread + free) as usize)
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
        let found = self.scan_with(value, &mut T::plus, |value, _| {
            let (up_to_here, before) = value.sums_of_warp();
            (up_to_here, Some(before))
        });
        (found.inclusive, found.exclusive.unwrap_or(T::ZERO), found.total)
    }
}

// SAFETY: whatever threads do, they access the memory by `scan_with` alone, within bounds and without races.
unsafe impl<T: Value, const THREADS: usize> SharedParam for Scan<T, THREADS> {
    type Storage = [Memory<T, THREADS, 1>; 2];

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let barrier = unsafe { ObjectBarrier::new(barrier) };
        Self { values: storage, turn: 0, thread: Shape::<THREADS>::thread(), barrier }
    }
}

impl<T, const THREADS: usize> fmt::Debug for Scan<T, THREADS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").finish_non_exhaustive()
    }
}

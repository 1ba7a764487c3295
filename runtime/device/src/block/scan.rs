//! Scans over a block.

use core::fmt;

use super::memory::Value;
use super::reduce::own;
use super::threads::{MOST_WARPS, Shape, WARP};
use crate::cooperative::{Number, WarpGroup, tile};
use crate::shared::{ObjectBarrier, SharedParam};

/// The last lane of a warp.
const LAST: u32 = WARP as u32 - 1;

/// Of so many warps the values are taken one after the other. It is a power of two.
const ONE_BY_ONE: usize = 8;

/// Scans of a `T` from each of a block's `THREADS` threads: CUB's `BlockScan<T, THREADS, BLOCK_SCAN_WARP_SCANS>`.
///
/// Every warp scans its values by shuffles, and leaves its total in shared memory. After one barrier, every thread takes the
/// totals of the warps before its own: by `redux.sync` for sums of integers of up to 32 bits from sm_80 on, else one after
/// the other, or by shuffles if there are more than eight. It takes 64 `T` of shared memory, and a barrier a call; a block
/// of one warp uses shuffles alone.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and they and their
/// warps give any value. Operators must be associative; they need not be commutative. Those of floats are not: results
/// are the same every time, what a thread finds without its own value is what the thread before it finds with its own, and
/// the last one finds the total.
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
    /// A value for each warp, twice: by turns, so that one barrier a call is enough.
    totals: *mut Totals<T>,
    /// The number of the first of them.
    turn: u32,
    thread: u32,
    barrier: ObjectBarrier,
}

/// Memory for the warps' values, whose alignment allows vectors.
#[repr(C, align(16))]
pub struct Totals<T>([[T; MOST_WARPS]; 2]);

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
        let in_warp = |value, combine: &mut _| {
            let up_to_here = tile::<32>().inclusive_scan(value, combine);
            (up_to_here, tile::<32>().shuffle_up(up_to_here, 1))
        };
        self.scan_with(value, &mut combine, in_warp, Self::of_warps)
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

    /// The scan, where `in_warp` finds a warp's sums up to each lane and before it, and `of_warps` what the warps' make.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn scan_with<F: FnMut(T, T) -> T>(
        &mut self,
        value: T,
        combine: &mut F,
        in_warp: impl FnOnce(T, &mut F) -> (T, Option<T>),
        of_warps: impl FnOnce(&Self, &mut F) -> Warps<T>,
    ) -> Scanned<T> {
        let (inclusive, exclusive) = in_warp(value, combine);
        if Self::WARPS == 1 {
            return Scanned { inclusive, exclusive, total: tile::<32>().shuffle(inclusive, LAST) };
        }
        if self.thread % WARP as u32 == LAST {
            // SAFETY: as in `read`; this thread alone accesses the place now.
            unsafe { self.place(self.thread / WARP as u32).write(inclusive) };
        }
        self.barrier.wait();
        let Warps { before, with_own, total } = of_warps(self, combine);
        self.turn ^= MOST_WARPS as u32;
        let inclusive = match (with_own, before) {
            (Some(sum), _) => sum,
            (None, Some(before)) => combine(before, inclusive),
            (None, None) => inclusive,
        };
        let exclusive = match (before, exclusive) {
            (Some(before), Some(own)) => Some(combine(before, own)),
            (before, own) => before.or(own),
        };
        Scanned { inclusive, exclusive, total }
    }

    /// What the warps' values make, in every thread.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn of_warps<F: FnMut(T, T) -> T>(&self, combine: &mut F) -> Warps<T> {
        if Self::WARPS <= ONE_BY_ONE { self.one_by_one(combine) } else { self.by_shuffles(combine) }
    }

    #[inline(always)]
    fn one_by_one(&self, combine: &mut impl FnMut(T, T) -> T) -> Warps<T> {
        let own = self.thread / WARP as u32;
        let mut total = self.read(0);
        // Of the first warp nobody looks at what comes before it.
        let mut before = [total; ONE_BY_ONE];
        for (warp, sum) in before.iter_mut().enumerate().take(Self::WARPS).skip(1) {
            *sum = total;
            total = combine(total, self.read(warp as u32));
        }
        // By the bits of the warp's number: three conditions, where comparisons with each would be seven.
        let mut count = ONE_BY_ONE;
        for bit in 0..ONE_BY_ONE.ilog2() {
            count /= 2;
            for at in 0..count {
                before[at] = if own >> bit & 1 == 0 { before[2 * at] } else { before[2 * at + 1] };
            }
        }
        let before = (own > 0).then_some(before[0]);
        Warps { before, with_own: None, total }
    }

    /// The same, where every warp scans the warps' values, which takes fewer instructions than one after the other.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn by_shuffles(&self, combine: &mut impl FnMut(T, T) -> T) -> Warps<T> {
        let (lane, own, last) = (self.thread % WARP as u32, self.thread / WARP as u32, Self::WARPS as u32 - 1);
        let (mut sum, mut step) = (self.read(lane.min(last)), 1);
        // All lanes go through all rounds: those that have no warp only give.
        while step <= last {
            let below = tile::<32>().shuffle_up(sum, step);
            if let (Some(below), true) = (below, lane <= last) {
                sum = combine(below, sum);
            }
            step *= 2;
        }
        let before = tile::<32>().shuffle(sum, own.saturating_sub(1));
        // In this order the warps before and the warp's own may make another float.
        let with_own = tile::<32>().shuffle(sum, own);
        Warps {
            before: (own > 0).then_some(before),
            with_own: (lane == LAST).then_some(with_own),
            total: tile::<32>().shuffle(sum, last),
        }
    }

    /// The value of a warp, of which there are at most `MOST_WARPS`.
    #[inline(always)]
    fn read(&self, warp: u32) -> T {
        // SAFETY: callers ask for warps of the block; any bits are a value. Accesses are ordinary ones, and no two race,
        // however threads come here: this object's barrier is its own, and `scan_with` is all that waits for it, once a
        // call. So threads pass it in the same order. Before it, in a call, a value is written by one thread; behind it
        // values are only read, and they are written again in the call after the next, to which a thread comes when all
        // have come to the next call's barrier, and have read.
        unsafe { self.place(warp).read() }
    }

    /// Where the value of a warp lies.
    #[inline(always)]
    fn place(&self, warp: u32) -> *mut T {
        self.totals.cast::<T>().wrapping_add((self.turn & MOST_WARPS as u32) as usize).wrapping_add(warp as usize)
    }
}

/// What the warps' values make for one thread.
struct Warps<T> {
    /// Those of the warps before its own; `None` in the first warp.
    before: Option<T>,
    /// These and its own warp's, in the last lane, if it is not what `before` and that make.
    with_own: Option<T>,
    /// Those of all warps.
    total: T,
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
        let in_warp = |value: T, _: &mut _| {
            let (up_to_here, before) = value.sums_of_warp();
            (up_to_here, Some(before))
        };
        let found = self.scan_with(value, &mut T::plus, in_warp, Self::sums_of_warps);
        (found.inclusive, found.exclusive.unwrap_or(T::ZERO), found.total)
    }

    /// What the warps' sums make: two sums of a warp, where that is an instruction each.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sums_of_warps<F: FnMut(T, T) -> T>(&self, combine: &mut F) -> Warps<T> {
        let (lane, own) = (self.thread % WARP as u32, self.thread / WARP as u32);
        let of_warp = || if (lane as usize) < Self::WARPS { self.read(lane) } else { T::ZERO };
        match T::sums_of_some(of_warp, lane < own) {
            Some((before, total)) => Warps { before: Some(before), with_own: None, total },
            None => self.of_warps(combine),
        }
    }
}

// SAFETY: whatever threads do, they access the memory by `scan_with` alone, within bounds and without races.
unsafe impl<T: Value, const THREADS: usize> SharedParam for Scan<T, THREADS> {
    type Storage = Totals<T>;

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

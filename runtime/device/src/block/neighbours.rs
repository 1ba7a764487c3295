//! What neighbouring values of a tile have to do with each other.

use core::fmt;

use super::memory::{Value, get, set};
use super::threads::{MOST_WARPS, Shape, WARP};
use crate::cooperative::{WarpGroup, tile};
use crate::shared::{ObjectBarrier, SharedParam};

/// Compares each value of a blocked tile with the one before it, or after it, which may be another thread's: CUB's
/// `BlockAdjacentDifference<T, THREADS>` and `BlockDiscontinuity<T, THREADS>`.
///
/// Values go from lane to lane by shuffles, and from warp to warp by 64 `T` of shared memory, with a barrier a call.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
///
/// ```
/// use ptx::block::{self, Neighbours};
/// use ptx::prelude::*;
/// use ptx::PerThread;
///
/// /// Differences between neighbours, of every 512 numbers.
/// #[kernel(dimensions = 1, launch_bounds(128))]
/// pub fn differences(x: &[i32], mut y: PerThread<i32, 4>, #[shared] mut block: Neighbours<i32, 128>) {
///     let tile = x.get(512 * thread::block_idx_x() as usize..).unwrap_or(&[]);
///     let own = block::load_blocked(tile, 0);
///     block::store_blocked(&mut y, block.differences(own, Some(0), |before, this| this - before));
/// }
/// ```
pub struct Neighbours<T, const THREADS: usize> {
    /// A value for each warp, twice: by turns, so that one barrier a call is enough.
    at_ends: *mut [[T; MOST_WARPS]; 2],
    turn: usize,
    thread: u32,
    barrier: ObjectBarrier,
}

impl<T: Value, const THREADS: usize> Neighbours<T, THREADS> {
    const WARPS: usize = Shape::<THREADS>::WARPS;

    /// The value that the thread before gives; `None` in the first.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn from_before(&mut self, value: T) -> Option<T> {
        let (warp, lane) = (self.thread as usize / WARP, self.thread as usize % WARP);
        let in_warp = tile::<32>().shuffle_up(value, 1);
        self.meet(lane == WARP - 1, value);
        let found = match in_warp {
            // SAFETY: a warp of the block.
            None if warp > 0 => Some(unsafe { get(self.place(warp - 1)) }),
            in_warp => in_warp,
        };
        self.turn ^= 1;
        found
    }

    /// The value that the thread behind gives; `None` in the last.
    ///
    /// # Panics
    /// As [`from_before`](Self::from_before).
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn from_behind(&mut self, value: T) -> Option<T> {
        let (warp, lane) = (self.thread as usize / WARP, self.thread as usize % WARP);
        let in_warp = tile::<32>().shuffle_down(value, 1);
        self.meet(lane == 0, value);
        let found = match in_warp {
            // SAFETY: a warp of the block.
            None if warp + 1 < Self::WARPS => Some(unsafe { get(self.place(warp + 1)) }),
            in_warp => in_warp,
        };
        self.turn ^= 1;
        found
    }

    /// What `difference` makes of each value and the one before it: CUB's `SubtractLeft`. The tile's first value comes
    /// after `before`; without one, it stays as it is.
    ///
    /// # Panics
    /// As [`from_before`](Self::from_before).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn differences<const ITEMS: usize>(
        &mut self,
        mut values: [T; ITEMS],
        before: Option<T>,
        mut difference: impl FnMut(T, T) -> T,
    ) -> [T; ITEMS] {
        let mut left = self.from_before(values[ITEMS - 1]).or(before);
        for value in &mut values {
            let this = *value;
            if let Some(left) = left {
                *value = difference(left, this);
            }
            left = Some(this);
        }
        values
    }

    /// What `difference` makes of each value and the one after it: CUB's `SubtractRight`. The tile's last value comes
    /// before `behind`; without one, it stays as it is.
    ///
    /// # Panics
    /// As [`from_before`](Self::from_before).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn differences_to_next<const ITEMS: usize>(
        &mut self,
        mut values: [T; ITEMS],
        behind: Option<T>,
        mut difference: impl FnMut(T, T) -> T,
    ) -> [T; ITEMS] {
        let mut right = self.from_behind(values[0]).or(behind);
        for value in values.iter_mut().rev() {
            let this = *value;
            if let Some(right) = right {
                *value = difference(this, right);
            }
            right = Some(this);
        }
        values
    }

    /// Which values begin something new, `is_new` being asked about each and the one before it: CUB's `FlagHeads`. The
    /// tile's first value comes after `before`; without one, it does.
    ///
    /// # Panics
    /// As [`from_before`](Self::from_before).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn heads<const ITEMS: usize>(
        &mut self,
        values: [T; ITEMS],
        before: Option<T>,
        mut is_new: impl FnMut(T, T) -> bool,
    ) -> [bool; ITEMS] {
        let mut left = self.from_before(values[ITEMS - 1]).or(before);
        values.map(|value| {
            let is_head = left.is_none_or(|left| is_new(left, value));
            left = Some(value);
            is_head
        })
    }

    /// Which values are the last of something, `is_new` being asked about each and the one after it: CUB's `FlagTails`. The
    /// tile's last value comes before `behind`; without one, it is.
    ///
    /// # Panics
    /// As [`from_before`](Self::from_before).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn tails<const ITEMS: usize>(
        &mut self,
        values: [T; ITEMS],
        behind: Option<T>,
        mut is_new: impl FnMut(T, T) -> bool,
    ) -> [bool; ITEMS] {
        let mut right = self.from_behind(values[0]).or(behind);
        let mut tails = [false; ITEMS];
        for (value, is_tail) in values.into_iter().zip(&mut tails).rev() {
            *is_tail = right.is_none_or(|right| is_new(value, right));
            right = Some(value);
        }
        tails
    }

    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn meet(&mut self, is_end: bool, value: T) {
        if Self::WARPS == 1 {
            return;
        }
        if is_end {
            // SAFETY: a thread's number is less than `THREADS`, so the warp's is less than `MOST_WARPS`.
            unsafe { set(self.place(self.thread as usize / WARP), value) };
        }
        self.barrier.wait();
    }

    /// Where the value of a warp below `MOST_WARPS` lies.
    #[inline(always)]
    fn place(&self, warp: usize) -> *mut T {
        // `turn` is 0 or 1.
        self.at_ends.cast::<T>().wrapping_add(self.turn % 2 * MOST_WARPS + warp)
    }
}

// SAFETY: whatever threads do, they access the memory by `get` and `set` alone, within bounds.
unsafe impl<T: Value, const THREADS: usize> SharedParam for Neighbours<T, THREADS> {
    type Storage = [[T; MOST_WARPS]; 2];

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let barrier = unsafe { ObjectBarrier::new(barrier) };
        Self { at_ends: storage, turn: 0, thread: Shape::<THREADS>::thread(), barrier }
    }
}

impl<T, const THREADS: usize> fmt::Debug for Neighbours<T, THREADS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Neighbours").finish_non_exhaustive()
    }
}

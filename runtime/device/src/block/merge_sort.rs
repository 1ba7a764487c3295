//! Merge sort over a block.

use core::fmt;

use super::memory::Value;
use super::threads::Shape;
use super::tile::{Arrangement, Memory, Tile};
use crate::shared::{ObjectBarrier, SharedParam};

/// Sorts `ITEMS` values of each of a block's `THREADS` threads by a comparison: CUB's `BlockMergeSort<T, THREADS, ITEMS>`.
///
/// Each thread sorts its own by an odd-even network; then runs are merged in twos, each thread finding by bisection which
/// `ITEMS` values of a merged run are its own. The sort is stable, values are blocked, and `THREADS` must be a power of
/// two. It takes the shared memory of an [`Exchange`](super::Exchange), and two barriers for each doubling.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for; the result is then any
/// values. So it is if the comparison is no order. To sort pairs by a key, sort a struct of both.
///
/// ```
/// use ptx::block::{self, MergeSort};
/// use ptx::prelude::*;
/// use ptx::PerThread;
///
/// /// Sorts every 512 numbers by their absolute values.
/// #[kernel(dimensions = 1, launch_bounds(128))]
/// pub fn sort(x: &[f32], mut y: PerThread<f32, 4>, #[shared] mut sort: MergeSort<f32, 128, 4>) {
///     let tile = x.get(512 * thread::block_idx_x() as usize..).unwrap_or(&[]);
///     let values = block::load_blocked(tile, f32::INFINITY);
///     block::store_blocked(&mut y, sort.sort(values, |a, b| a.abs() < b.abs()));
/// }
/// ```
pub struct MergeSort<T, const THREADS: usize, const ITEMS: usize> {
    tile: Tile<T, THREADS, ITEMS>,
    thread: u32,
    is_used: bool,
    barrier: ObjectBarrier,
}

impl<T: Value, const THREADS: usize, const ITEMS: usize> MergeSort<T, THREADS, ITEMS> {
    /// Sorts values so that none `is_less` than one before it: CUB's `StableSort`.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn sort(&mut self, mut values: [T; ITEMS], mut is_less: impl FnMut(T, T) -> bool) -> [T; ITEMS] {
        const { assert!(THREADS.is_power_of_two(), "a merge sort needs a power of two of threads") };
        sort_own(&mut values, &mut is_less);
        let items = ITEMS as u32;
        let mut threads = 2;
        while threads <= THREADS as u32 {
            if self.is_used {
                self.barrier.wait();
            }
            self.is_used = true;
            // SAFETY: the thread's number is less than `THREADS`.
            unsafe { self.tile.write(Arrangement::Blocked, self.thread, values) };
            self.barrier.wait();
            let first = (self.thread & !(threads - 1)) * items;
            let half = threads / 2 * items;
            // Of the merged run, this thread's values begin here.
            let begin = (self.thread & (threads - 1)) * items;
            let of_first = self.split(first, half, begin, &mut is_less);
            values = self.merge(first, half, begin, of_first, &mut is_less);
            threads *= 2;
        }
        values
    }

    /// How many of the first `begin` values of two merged runs are of the first run. Each has `half` values, from `first`
    /// on.
    #[inline(always)]
    fn split(&self, first: u32, half: u32, begin: u32, is_less: &mut impl FnMut(T, T) -> bool) -> u32 {
        let (mut low, mut high) = (begin.saturating_sub(half), begin.min(half));
        while low < high {
            let middle = low.midpoint(high);
            if is_less(self.at(first + half + begin - 1 - middle), self.at(first + middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// The next values of the two merged runs, where so many of the first and the rest of the second are taken.
    #[inline(always)]
    fn merge(
        &self,
        first: u32,
        half: u32,
        begin: u32,
        of_first: u32,
        is_less: &mut impl FnMut(T, T) -> bool,
    ) -> [T; ITEMS] {
        let (mut a, mut b) = (first + of_first, first + half + begin - of_first);
        let (end_a, end_b) = (first + half, first + 2 * half);
        let (mut of_a, mut of_b) = (self.at(a), self.at(b));
        core::array::from_fn(|_| {
            let takes_b = b < end_b && (a >= end_a || is_less(of_b, of_a));
            let value = if takes_b { of_b } else { of_a };
            if takes_b {
                b += 1;
                of_b = self.at(b);
            } else {
                a += 1;
                of_a = self.at(a);
            }
            value
        })
    }

    /// Value `index`, or that of the last.
    #[inline(always)]
    fn at(&self, index: u32) -> T {
        // SAFETY: less than `LEN`.
        unsafe { self.tile.get(index.min(Tile::<T, THREADS, ITEMS>::LEN as u32 - 1)) }
    }
}

/// Sorts a thread's values by a network that exchanges neighbours, which keeps equal ones in their order.
#[inline(always)]
fn sort_own<T: Copy, const ITEMS: usize>(values: &mut [T; ITEMS], is_less: &mut impl FnMut(T, T) -> bool) {
    for round in 0..ITEMS {
        let mut at = round % 2;
        while at + 1 < ITEMS {
            let (a, b) = (values[at], values[at + 1]);
            let is_wrong = is_less(b, a);
            (values[at], values[at + 1]) = if is_wrong { (b, a) } else { (a, b) };
            at += 2;
        }
    }
}

// SAFETY: whatever threads do, they access the memory by the tile's functions alone, within bounds.
unsafe impl<T: Value, const THREADS: usize, const ITEMS: usize> SharedParam for MergeSort<T, THREADS, ITEMS> {
    type Storage = Memory<T, THREADS, ITEMS>;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let (tile, barrier) = unsafe { (Tile::new(storage), ObjectBarrier::new(barrier)) };
        Self { tile, thread: Shape::<THREADS>::thread(), is_used: false, barrier }
    }
}

impl<T, const THREADS: usize, const ITEMS: usize> fmt::Debug for MergeSort<T, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeSort").finish_non_exhaustive()
    }
}

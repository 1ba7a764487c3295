//! Merge sort over a block.

use core::fmt;

use super::memory::Value;
use super::threads::Shape;
use super::tile::Memory;
use crate::cooperative::tile;
use crate::shared::{ObjectBarrier, SharedParam};

/// Sorts `ITEMS` values of each of a block's `THREADS` threads by a comparison: CUB's `BlockMergeSort<T, THREADS, ITEMS>`.
///
/// Each thread sorts its own by an odd-even network; then runs are merged in twos, each thread finding by bisection which
/// `ITEMS` values of a merged run are its own. Runs of up to four values of up to 8 bytes are first merged with the
/// neighbouring thread's by shuffles. The sort is stable, values are blocked, and `THREADS` must be a power of two. It
/// takes the shared memory of an [`Exchange`](super::Exchange), and two barriers for each doubling in shared memory.
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
    memory: *mut Memory<T, THREADS, ITEMS>,
    thread: u32,
    is_used: bool,
    barrier: ObjectBarrier,
}

impl<T: Value, const THREADS: usize, const ITEMS: usize> MergeSort<T, THREADS, ITEMS> {
    /// Values of the block. The memory has room for more.
    const LEN: u32 = {
        assert!(ITEMS > 0, "a thread has at least one item");
        (THREADS * ITEMS) as u32
    };
    /// Whether a thread merges its first run with its neighbour's by shuffles: that takes no barrier and a shuffle for
    /// each 4 bytes, but its instructions grow with the square of the items.
    const PAIRS_IN_REGISTERS: bool = ITEMS <= 4 && size_of::<T>() <= 8;

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
        if Self::PAIRS_IN_REGISTERS {
            values = self.merge_pair(values, &mut is_less);
        }
        if !self.is_used && self.thread == 0 {
            // Behind the last run's end a value is read, though not used.
            // SAFETY: there is room for one more. Only this thread ever writes there, and only now, before the first
            // barrier; others read it behind one.
            unsafe { self.place(Self::LEN).write(values[0]) };
        }
        let items = ITEMS as u32;
        let mut threads = if Self::PAIRS_IN_REGISTERS { 4 } else { 2 };
        while threads <= THREADS as u32 {
            if self.is_used {
                self.barrier.wait();
            }
            self.is_used = true;
            self.write_own(values);
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

    /// Merges the sorted values of a thread of even number, `A`, with those of the next, `B`: it gets the first half,
    /// and the other one the second.
    ///
    /// `A[i]` is in the first half if it is not after `B[ITEMS - 1 - i]`, and that one in the second: so much of `A`
    /// stays, then come as many of `B` as are missing, and both are merged once more by the network. In the other
    /// thread all this is mirrored.
    #[inline(always)]
    fn merge_pair(&self, values: [T; ITEMS], is_less: &mut impl FnMut(T, T) -> bool) -> [T; ITEMS] {
        let is_second = self.thread % 2 == 1;
        let mirrored = |values: [T; ITEMS]| -> [T; ITEMS] {
            core::array::from_fn(|item| if is_second { values[ITEMS - 1 - item] } else { values[item] })
        };
        let own = mirrored(values);
        let other: [T; ITEMS] = core::array::from_fn(|item| tile::<32>().shuffle_xor(own[ITEMS - 1 - item], 1));
        let stays: [bool; ITEMS] = core::array::from_fn(|item| {
            let (own, other) = (own[item], other[ITEMS - 1 - item]);
            let (a, b) = if is_second { (other, own) } else { (own, other) };
            !is_less(b, a)
        });
        let mut values = mirrored(core::array::from_fn(|item| {
            let mut value = other[item];
            for before in 0..item {
                value = if stays[before] { other[item - 1 - before] } else { value };
            }
            if stays[item] { own[item] } else { value }
        }));
        sort_own(&mut values, is_less);
        values
    }

    /// Writes the thread's values in their place.
    #[inline(always)]
    fn write_own(&mut self, values: [T; ITEMS]) {
        // SAFETY: the thread's number is less than `THREADS`, so this is in the memory. Only this thread writes there, and
        // others read it behind the next barrier alone, which is also before the next write: see `place`.
        unsafe { self.place(self.thread * ITEMS as u32).cast::<[T; ITEMS]>().write(values) };
    }

    /// How many of the first `begin` values of two merged runs are of the first run. Each has `half` values, from `first`
    /// on. Whatever `is_less` says, it is neither more than `begin` or `half`, nor less than `begin - half`.
    #[inline(always)]
    fn split(&self, first: u32, half: u32, begin: u32, is_less: &mut impl FnMut(T, T) -> bool) -> u32 {
        let (mut low, mut high) = (begin.saturating_sub(half), begin.min(half));
        // The first run's value 0, and the second run's that it would be compared with. For each step on in the first
        // run it is a step back in the second: an addition to each address finds both.
        let (of_first, of_second) = (self.place(first), self.place(first + half + begin).wrapping_sub(1));
        while low < high {
            // Neither is over `LEN`, so their sum fits; `midpoint` takes one instruction more.
            let middle = (low + high) / 2;
            // SAFETY: `begin - half <= middle < half` and `middle < begin`, so both are in their runs.
            let (a, b) =
                unsafe { (of_first.add(middle as usize).read(), of_second.wrapping_sub(middle as usize).read()) };
            if is_less(b, a) {
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
        // Places are counted in bytes, and kept as those of the next value: an address is then the memory's and one of
        // them, which is no instruction. That of the second run follows from the first's.
        let bytes = size_of::<T>() as u32;
        let (mut next_a, both) = ((first + of_first + 1) * bytes, (2 * first + half + begin + 2) * bytes);
        let (end_a, end_b) = ((first + half) * bytes, (first + 2 * half) * bytes);
        // SAFETY: by `split`, neither place is behind its run's end, which is at most `LEN`. Before the last value is
        // taken, not both are at their ends, and the one that is at its end is not moved on.
        let at = |place: u32| unsafe { self.memory.cast::<u8>().wrapping_add(place as usize).cast::<T>().read() };
        let (mut of_a, mut of_b) = (at(next_a - bytes), at(both - next_a - bytes));
        core::array::from_fn(|item| {
            let next_b = both + item as u32 * bytes - next_a;
            let takes_b = next_b <= end_b && (next_a > end_a || is_less(of_b, of_a));
            let value = if takes_b { of_b } else { of_a };
            let next = at(if takes_b { next_b } else { next_a });
            if takes_b {
                of_b = next;
            } else {
                of_a = next;
                next_a += bytes;
            }
            value
        })
    }

    /// Where value `index` lies.
    ///
    /// Accesses are ordinary ones, not atomics: with those ptxas takes the search for a loop that waits, has it yield and
    /// brings the warp together again before each barrier, which makes the sort twice as slow. No two race: this object's
    /// barrier is its own, `sort` is all that waits for it, and there writes and reads take turns. So between one pair of
    /// barriers all threads write their own values, between the next all read, however they come here.
    #[inline(always)]
    fn place(&self, index: u32) -> *mut T {
        self.memory.cast::<T>().wrapping_add(index as usize)
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

// SAFETY: whatever threads do, they access the memory in `sort` alone, within bounds and without races.
unsafe impl<T: Value, const THREADS: usize, const ITEMS: usize> SharedParam for MergeSort<T, THREADS, ITEMS> {
    type Storage = Memory<T, THREADS, ITEMS>;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let barrier = unsafe { ObjectBarrier::new(barrier) };
        Self { memory: storage, thread: Shape::<THREADS>::thread(), is_used: false, barrier }
    }
}

impl<T, const THREADS: usize, const ITEMS: usize> fmt::Debug for MergeSort<T, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeSort").finish_non_exhaustive()
    }
}

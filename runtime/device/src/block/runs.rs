//! Runs of equal values in a tile.

use core::fmt;

use super::exchange::Exchange;
use super::memory::Value;
use super::neighbours::Neighbours;
use super::scan::Scan;
use crate::shared::SharedParam;

/// Finds the runs of equal values among `ITEMS` values of each of a block's `THREADS` threads: the block's part of CUB's
/// `DeviceRunLengthEncode`.
///
/// It takes a [`Neighbours`] to find where runs begin, a [`Scan`] to number them, and two [`Exchange`]s, with their memory
/// and a barrier each: four.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
pub struct RunLength<T, const THREADS: usize, const ITEMS: usize> {
    neighbours: Neighbours<T, THREADS>,
    scan: Scan<u32, THREADS>,
    values: Exchange<T, THREADS, ITEMS>,
    starts: Exchange<u32, THREADS, ITEMS>,
}

/// Shared memory of a [`RunLength`].
#[repr(C)]
pub struct Memory<N, S, V, B> {
    neighbours: N,
    scan: S,
    values: V,
    starts: B,
}

/// A run of equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<T> {
    /// What all of its values are equal to.
    pub value: T,
    /// Where the run begins in the tile.
    pub start: u32,
    /// How many values it has.
    pub len: u32,
}

impl<T: Value + PartialEq, const THREADS: usize, const ITEMS: usize> RunLength<T, THREADS, ITEMS> {
    /// The runs in the first `len` values of a blocked tile, striped, and their number: thread `t` has the runs `t`,
    /// `t + THREADS`, … `len` must be the same in all threads.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn encode(&mut self, values: [T; ITEMS], len: usize) -> ([Option<Run<T>>; ITEMS], usize) {
        let thread = self.values.thread();
        let (first, end) = (thread * ITEMS as u32, len.min(THREADS * ITEMS) as u32);
        let mut begins = self.neighbours.heads(values, None, |before, this| before != this);
        let places: [u32; ITEMS] = core::array::from_fn(|item| first + item as u32);
        for (begins, place) in begins.iter_mut().zip(places) {
            *begins &= place < end;
        }
        let (ranks, count) = self.scan.exclusive_sum_items(begins.map(u32::from));
        let ranks = core::array::from_fn(|item| if begins[item] { Some(ranks[item]) } else { None });
        let values = self.values.scatter_some_to_striped(values, ranks);
        let starts = self.starts.scatter_some_to_striped(places, ranks);
        let runs = core::array::from_fn(|item| {
            let run = (item * THREADS) as u32 + thread;
            let next = if run + 1 < count { self.starts.scattered(run + 1) } else { end };
            let (value, start) = (values[item], starts[item]);
            if run < count { Some(Run { value, start, len: next.wrapping_sub(start) }) } else { None }
        });
        (runs, count as usize)
    }
}

// SAFETY: of its parts.
unsafe impl<T: Value, const THREADS: usize, const ITEMS: usize> SharedParam for RunLength<T, THREADS, ITEMS> {
    type Storage = Memory<
        <Neighbours<T, THREADS> as SharedParam>::Storage,
        <Scan<u32, THREADS> as SharedParam>::Storage,
        <Exchange<T, THREADS, ITEMS> as SharedParam>::Storage,
        <Exchange<u32, THREADS, ITEMS> as SharedParam>::Storage,
    >;
    const BARRIERS: u32 = 4;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise; four parts of the memory, and four barriers.
        unsafe {
            Self {
                neighbours: Neighbours::make(&raw mut (*storage).neighbours, barrier),
                scan: Scan::make(&raw mut (*storage).scan, barrier + 1),
                values: Exchange::make(&raw mut (*storage).values, barrier + 2),
                starts: Exchange::make(&raw mut (*storage).starts, barrier + 3),
            }
        }
    }
}

impl<T, const THREADS: usize, const ITEMS: usize> fmt::Debug for RunLength<T, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLength").finish_non_exhaustive()
    }
}

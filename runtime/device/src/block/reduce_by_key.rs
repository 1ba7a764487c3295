//! Reductions of neighbouring values with the same key.

use core::fmt;

use super::exchange::Exchange;
use super::memory::{Value, get, set};
use super::neighbours::Neighbours;
use super::scan::Scan;
use super::threads::{MOST_WARPS, Shape, WARP};
use crate::cooperative::{WarpGroup, tile};
use crate::shared::{ObjectBarrier, SharedParam};

/// Reduces values whose keys are equal and stand in a row, among `ITEMS` pairs of each of a block's `THREADS` threads: the
/// block's part of CUB's `DeviceReduce::ReduceByKey`.
///
/// It takes a [`Neighbours`] to find where keys change, a [`Scan`] to number the runs, a scan of values that begins anew at
/// each run, and two [`Exchange`]s, with their memory and a barrier each: five.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
pub struct ReduceByKey<K, V, const THREADS: usize, const ITEMS: usize> {
    neighbours: Neighbours<K, THREADS>,
    scan: Scan<u32, THREADS>,
    keys: Exchange<K, THREADS, ITEMS>,
    sums: Exchange<V, THREADS, ITEMS>,
    totals: *mut Totals<V>,
    turn: usize,
    barrier: ObjectBarrier,
}

/// What each warp leaves, twice: the value of its last run, and whether a run begins in the warp.
#[repr(C)]
pub struct Totals<V> {
    values: [[V; MOST_WARPS]; 2],
    flags: [[u32; MOST_WARPS]; 2],
}

/// Shared memory of a [`ReduceByKey`].
#[repr(C)]
pub struct Memory<N, S, K, V, T> {
    neighbours: N,
    scan: S,
    keys: K,
    sums: V,
    totals: T,
}

impl<K: Value + PartialEq, V: Value, const THREADS: usize, const ITEMS: usize> ReduceByKey<K, V, THREADS, ITEMS> {
    /// For each run of equal keys in a blocked tile, the key and what `combine` makes of the values; striped, and their
    /// number: thread `t` has the runs `t`, `t + THREADS`, … `combine` must be associative.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn reduce(
        &mut self,
        keys: [K; ITEMS],
        values: [V; ITEMS],
        mut combine: impl FnMut(V, V) -> V,
    ) -> ([Option<(K, V)>; ITEMS], usize) {
        let thread = self.keys.thread();
        let begins = self.neighbours.heads(keys, None, |before, this| before != this);
        let (ranks, count) = self.scan.exclusive_sum_items(begins.map(u32::from));

        // What the thread has of its last run, and what of that run stands before the thread.
        let mut own = values[0];
        for item in 1..ITEMS {
            own = if begins[item] { values[item] } else { combine(own, values[item]) };
        }
        let mut sum = self.before(own, begins.contains(&true), &mut combine);

        // Where a run begins, the one before is complete; the last one is so at the tile's end.
        let mut complete = [values[0]; ITEMS];
        for item in 0..ITEMS {
            complete[item] = sum.unwrap_or(values[item]);
            sum = Some(match sum {
                Some(sum) if !begins[item] => combine(sum, values[item]),
                _ => values[item],
            });
        }
        let of_keys = core::array::from_fn(|item| if begins[item] { Some(ranks[item]) } else { None });
        let of_sums = of_keys.map(|rank| rank.and_then(|rank| rank.checked_sub(1)));
        let keys = self.keys.scatter_some_to_striped(keys, of_keys);
        let last = if thread as usize == THREADS - 1 { sum } else { None };
        self.sums.scatter_and(complete, of_sums, last.map(|sum| (count.wrapping_sub(1), sum)));
        let runs = core::array::from_fn(|item| {
            let run = (item * THREADS) as u32 + thread;
            let sum = self.sums.scattered(run);
            if run < count { Some((keys[item], sum)) } else { None }
        });
        (runs, count as usize)
    }

    /// What the threads before have of the run that goes on here; `None` in the first thread. `own` is what this thread has of
    /// its last run, and `begins` says whether a run begins here.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    fn before(&mut self, own: V, begins: bool, combine: &mut impl FnMut(V, V) -> V) -> Option<V> {
        let thread = self.keys.thread() as usize;
        let (warp, lanes) = (thread / WARP, tile::<32>());
        let (mut sum, mut flag, mut step) = (own, u32::from(begins), 1);
        while step < WARP as u32 {
            let (below, of_below) = (lanes.shuffle_up(sum, step), lanes.shuffle_up(flag, step));
            if let (Some(below), Some(of_below)) = (below, of_below) {
                sum = if flag == 0 { combine(below, sum) } else { sum };
                flag |= of_below;
            }
            step *= 2;
        }
        let (left, of_left) = (lanes.shuffle_up(sum, 1), lanes.shuffle_up(flag, 1));
        if thread % WARP == WARP - 1 {
            let (value, place) = self.total(warp);
            // SAFETY: a warp of the block.
            unsafe {
                set(value, sum);
                set(place, flag);
            }
        }
        self.barrier.wait();
        let mut before = None;
        for other in 0..Shape::<THREADS>::WARPS {
            if other < warp {
                let (value, flag) = self.total(other);
                // SAFETY: a warp of the block.
                let (value, flag) = unsafe { (get(value), get(flag)) };
                before = Some(match before {
                    Some(before) if flag == 0 => combine(before, value),
                    _ => value,
                });
            }
        }
        self.turn ^= 1;
        match (before, left) {
            (Some(before), Some(left)) if of_left == Some(0) => Some(combine(before, left)),
            (before, left) => left.or(before),
        }
    }

    /// Where the value and the flag of a warp below `MOST_WARPS` lie.
    #[inline(always)]
    fn total(&self, warp: usize) -> (*mut V, *mut u32) {
        // `turn` is 0 or 1.
        let at = self.turn % 2 * MOST_WARPS + warp;
        // SAFETY: within the memory.
        unsafe {
            (
                (&raw mut (*self.totals).values).cast::<V>().add(at),
                (&raw mut (*self.totals).flags).cast::<u32>().add(at),
            )
        }
    }
}

// SAFETY: of its parts; and the memory of its own is accessed by `get` and `set` alone, within bounds.
unsafe impl<K: Value, V: Value, const THREADS: usize, const ITEMS: usize> SharedParam
    for ReduceByKey<K, V, THREADS, ITEMS>
{
    type Storage = Memory<
        <Neighbours<K, THREADS> as SharedParam>::Storage,
        <Scan<u32, THREADS> as SharedParam>::Storage,
        <Exchange<K, THREADS, ITEMS> as SharedParam>::Storage,
        <Exchange<V, THREADS, ITEMS> as SharedParam>::Storage,
        Totals<V>,
    >;
    const BARRIERS: u32 = 5;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise; five parts of the memory, and five barriers.
        unsafe {
            Self {
                neighbours: Neighbours::make(&raw mut (*storage).neighbours, barrier),
                scan: Scan::make(&raw mut (*storage).scan, barrier + 1),
                keys: Exchange::make(&raw mut (*storage).keys, barrier + 2),
                sums: Exchange::make(&raw mut (*storage).sums, barrier + 3),
                totals: &raw mut (*storage).totals,
                turn: 0,
                barrier: ObjectBarrier::new(barrier + 4),
            }
        }
    }
}

impl<K, V, const THREADS: usize, const ITEMS: usize> fmt::Debug for ReduceByKey<K, V, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReduceByKey").finish_non_exhaustive()
    }
}

//! Values of a tile that are chosen, together.

use core::fmt;

use super::exchange::Exchange;
use super::memory::Value;
use super::scan::Scan;
use crate::shared::SharedParam;

/// Brings chosen ones of `ITEMS` values of each of a block's `THREADS` threads together, in their order: the block's part of
/// CUB's `DeviceSelect` and `DevicePartition`.
///
/// It is a [`Scan`] of how many each thread has chosen, and an [`Exchange`], with their memory and a barrier each.
///
/// All threads must make the same calls in the same order. Those that have ended are not waited for, and give any value.
pub struct Select<T, const THREADS: usize, const ITEMS: usize> {
    scan: Scan<u32, THREADS>,
    exchange: Exchange<T, THREADS, ITEMS>,
}

/// Shared memory of a [`Select`].
#[repr(C)]
pub struct Memory<A, B> {
    pub(super) first: A,
    pub(super) second: B,
}

impl<T: Value, const THREADS: usize, const ITEMS: usize> Select<T, THREADS, ITEMS> {
    /// The chosen values, striped, and their number: thread `t` has those at `t`, `t + THREADS`, … CUB's
    /// `DeviceSelect::Flagged` within a block.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn select(&mut self, values: [T; ITEMS], is_chosen: [bool; ITEMS]) -> ([Option<T>; ITEMS], usize) {
        let (ranks, count) = self.scan.exclusive_sum_items(is_chosen.map(u32::from));
        let ranks = core::array::from_fn(|item| if is_chosen[item] { Some(ranks[item]) } else { None });
        let found = self.exchange.scatter_some_to_striped(values, ranks);
        let first = self.exchange.thread() as usize;
        let kept =
            core::array::from_fn(|item| if item * THREADS + first < count as usize { Some(found[item]) } else { None });
        (kept, count as usize)
    }

    /// [`select`](Self::select) of the values for which `choose` says so: CUB's `DeviceSelect::If` within a block.
    ///
    /// # Panics
    /// As [`select`](Self::select).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn select_if(&mut self, values: [T; ITEMS], mut choose: impl FnMut(T) -> bool) -> ([Option<T>; ITEMS], usize) {
        let is_chosen = values.map(&mut choose);
        self.select(values, is_chosen)
    }

    /// The chosen values, then the others, striped, both in their order; and how many are chosen: CUB's
    /// `DevicePartition::Flagged` within a block, which has the others in reverse.
    ///
    /// # Panics
    /// As [`select`](Self::select).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn partition(&mut self, values: [T; ITEMS], is_chosen: [bool; ITEMS]) -> ([T; ITEMS], usize) {
        let (before, count) = self.scan.exclusive_sum_items(is_chosen.map(u32::from));
        let first = self.exchange.thread() * ITEMS as u32;
        // Before an item stand as many others as items less the chosen.
        let ranks = core::array::from_fn(|item| {
            let others = (first + item as u32).wrapping_sub(before[item]);
            if is_chosen[item] { before[item] } else { count.wrapping_add(others) }
        });
        (self.exchange.scatter_to_striped(values, ranks), count as usize)
    }
}

// SAFETY: of its parts.
unsafe impl<T: Value, const THREADS: usize, const ITEMS: usize> SharedParam for Select<T, THREADS, ITEMS> {
    type Storage =
        Memory<<Scan<u32, THREADS> as SharedParam>::Storage, <Exchange<T, THREADS, ITEMS> as SharedParam>::Storage>;
    const BARRIERS: u32 = 2;

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise; two parts of the memory, and two barriers.
        unsafe {
            Self {
                scan: Scan::make(&raw mut (*storage).first, barrier),
                exchange: Exchange::make(&raw mut (*storage).second, barrier + 1),
            }
        }
    }
}

impl<T, const THREADS: usize, const ITEMS: usize> fmt::Debug for Select<T, THREADS, ITEMS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").finish_non_exhaustive()
    }
}

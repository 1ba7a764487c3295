//! Histograms of a block.

use core::fmt;

use super::threads::Shape;
use crate::atomic::{Atomic, Block, Ordering};
use crate::shared::{ObjectBarrier, SharedParam};

/// Counts values in `BINS` bins for a block of `THREADS` threads: CUB's `BlockHistogram<T, THREADS, ITEMS, BINS,
/// BLOCK_HISTO_ATOMIC>`.
///
/// Bins are in shared memory, four bytes each, and are counted by `red.relaxed.cta.shared.add.u32`.
///
/// All threads must call [`clear`](Self::clear) and [`counts`](Self::counts) in the same order; [`add`](Self::add) as they
/// like between.
///
/// ```
/// use ptx::atomic::{AtomicSlice, Device, Ordering};
/// use ptx::block::Histogram;
/// use ptx::prelude::*;
///
/// #[kernel(dimensions = 1, launch_bounds(256))]
/// pub fn count(data: &[u8], total: AtomicSlice<u32, Device>, #[shared] mut bins: Histogram<256, 256>) {
///     bins.clear();
///     for i in thread::grid_stride(data.len()) {
///         bins.add(data[i].into());
///     }
///     for (bin, count) in bins.counts() {
///         total[bin].fetch_add(count, Ordering::Relaxed);
///     }
/// }
/// ```
pub struct Histogram<const BINS: usize, const THREADS: usize> {
    bins: *mut [Atomic<u32, Block>; BINS],
    thread: u32,
    barrier: ObjectBarrier,
}

impl<const BINS: usize, const THREADS: usize> Histogram<BINS, THREADS> {
    /// Makes all counts 0: CUB's `InitHistogram`. It waits at two barriers, so that nobody reads the old counts any more, and
    /// all may add.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn clear(&mut self) {
        self.barrier.wait();
        let mut bin = self.thread as usize;
        while bin < BINS {
            self.bins()[bin].store(0, Ordering::Relaxed);
            bin += THREADS;
        }
        self.barrier.wait();
    }

    /// Counts one value: CUB's `Composite`.
    ///
    /// # Panics
    /// If there is no such bin.
    #[inline(always)]
    #[track_caller]
    pub fn add(&mut self, bin: usize) {
        assert!(bin < BINS, "a histogram of {BINS} bins has no bin {bin}");
        self.bins()[bin].fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until all have added, and gives each thread its bins, `THREADS` apart, with their counts.
    ///
    /// # Panics
    /// In debug builds, if another thread came here from another place in the code.
    #[inline(always)]
    #[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
    pub fn counts(&mut self) -> impl Iterator<Item = (usize, u32)> {
        self.barrier.wait();
        let bins = self.bins();
        (self.thread as usize..BINS).step_by(THREADS).map(|bin| (bin, bins[bin].load(Ordering::Relaxed)))
    }

    /// The count of one bin, as of now: that of all only after [`counts`](Self::counts).
    ///
    /// # Panics
    /// If there is no such bin.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn count(&self, bin: usize) -> u32 {
        assert!(bin < BINS, "a histogram of {BINS} bins has no bin {bin}");
        self.bins()[bin].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn bins(&self) -> &[Atomic<u32, Block>; BINS] {
        // SAFETY: memory that lives as long as `self`; any bits are a count, and every access is atomic.
        unsafe { &*self.bins }
    }
}

// SAFETY: whatever threads do, they access the memory by atomics alone, within bounds.
unsafe impl<const BINS: usize, const THREADS: usize> SharedParam for Histogram<BINS, THREADS> {
    type Storage = [Atomic<u32, Block>; BINS];

    #[inline(always)]
    #[track_caller]
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self {
        // SAFETY: the caller's promise.
        let barrier = unsafe { ObjectBarrier::new(barrier) };
        Self { bins: storage, thread: Shape::<THREADS>::thread(), barrier }
    }
}

impl<const BINS: usize, const THREADS: usize> fmt::Debug for Histogram<BINS, THREADS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram").finish_non_exhaustive()
    }
}

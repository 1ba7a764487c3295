//! Reductions, scans and histograms: what threads of a block find out together.

use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::prelude::*;
use ptx::{PerBlock, Shared};

/// Threads of a block of these kernels.
pub const THREADS: usize = 256;

#[ptx::shared]
static PARTIAL: Shared<[f32; THREADS]>;

/// The sum of the values of all threads of a block.
///
/// # Safety
/// All [`THREADS`] threads of the block must call it together, and nobody else may use [`PARTIAL`] meanwhile.
#[inline]
unsafe fn block_sum(value: f32) -> f32 {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread writes its own element, and reads others after a barrier.
    unsafe { PARTIAL.write(t, value) };
    sync_threads();
    let mut half = THREADS / 2;
    while half > 0 {
        if t < half {
            // SAFETY: in this round the upper half is read only.
            unsafe { PARTIAL.write(t, PARTIAL.read(t) + PARTIAL.read(t + half)) };
        }
        sync_threads();
        half /= 2;
    }
    // SAFETY: written before the last barrier.
    unsafe { PARTIAL.read(0) }
}

/// A sum for every block, of elements that are a grid apart.
///
/// # Safety
/// Blocks must have [`THREADS`] threads.
#[kernel(dimensions = 1)]
pub unsafe fn reduce(x: &[f32], mut sums: PerBlock<f32>) {
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut sum = 0.0;
    for i in (thread::index_1d().get()..x.len()).step_by(stride) {
        sum += x[i];
    }
    // SAFETY: all threads of the block are here.
    let sum = unsafe { block_sum(sum) };
    if let Some(out) = sums.part().get_mut() {
        *out = sum;
    }
}

/// The same for products of two vectors' elements.
///
/// # Safety
/// Blocks must have [`THREADS`] threads.
#[kernel(dimensions = 1)]
pub unsafe fn dot(x: &[f32], y: &[f32], mut sums: PerBlock<f32>) {
    let y = &y[..x.len()];
    let sum = thread::grid_stride(x.len()).map(|i| x[i] * y[i]).sum();
    // SAFETY: all threads of the block are here.
    let sum = unsafe { block_sum(sum) };
    if let Some(out) = sums.part().get_mut() {
        *out = sum;
    }
}

#[ptx::shared]
static SCANNED: Shared<[u32; THREADS]>;

/// Sums of all elements of a block up to each, which is included (Hillis and Steele).
///
/// # Safety
/// Blocks must have [`THREADS`] threads.
#[kernel]
pub unsafe fn scan(x: &[u32], mut sums: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let t = thread::thread_idx_x() as usize;
    let mut sum = x.get(i.get()).copied().unwrap_or(0);
    // SAFETY: each thread writes its own element; barriers stand between writing and reading.
    unsafe { SCANNED.write(t, sum) };
    sync_threads();
    let mut distance = 1;
    while distance < THREADS {
        if t >= distance {
            // SAFETY: as above.
            sum = sum.wrapping_add(unsafe { SCANNED.read(t - distance) });
        }
        sync_threads();
        // SAFETY: as above.
        unsafe { SCANNED.write(t, sum) };
        sync_threads();
        distance *= 2;
    }
    if let Some(out) = sums.get_mut(i) {
        *out = sum;
    }
}

/// Bins of [`histogram`].
pub const BINS: usize = 256;

#[ptx::shared]
static COUNTS: Shared<[Atomic<u32, Block>; BINS]>;

/// Counts bytes in shared memory first. Blocks have as many threads as there are bins.
#[kernel]
pub fn histogram(data: &[u8], counts: AtomicSlice<u32, Device>) {
    let t = thread::thread_idx_x() as usize;
    let first = thread::index_1d().get();
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    COUNTS[t].store(0, Ordering::Relaxed);
    sync_threads();
    for i in (first..data.len()).step_by(stride) {
        COUNTS[usize::from(data[i])].fetch_add(1, Ordering::Relaxed);
    }
    sync_threads();
    counts[t].fetch_add(COUNTS[t].load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Counts numbers by their last bits, in global memory.
#[kernel]
pub fn histogram_global(data: &[u32], counts: AtomicSlice<u32, Device>) {
    if let Some(value) = data.get(thread::index_1d().get()) {
        counts[*value as usize % counts.len()].fetch_add(1, Ordering::Relaxed);
    }
}

/// The largest absolute value, as bits, which are in the same order.
#[kernel]
pub fn largest(x: &[f32], result: AtomicSlice<u32, Device>) {
    let largest = thread::grid_stride(x.len()).fold(0.0_f32, |largest, i| largest.max(x[i].abs()));
    result[0].fetch_max(largest.to_bits(), Ordering::Relaxed);
}

//! Where threads are, and how they wait for each other.

use ptx::prelude::*;

/// Thirteen numbers a thread: position, block, extents, lane.
pub const NUMBERS: usize = 13;

#[kernel]
pub fn positions(mut out: DisjointSlice<[u32; NUMBERS]>) {
    let (t, b, d, g) = (thread::thread_idx(), thread::block_idx(), thread::block_dim(), thread::grid_dim());
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [t.x, t.y, t.z, b.x, b.y, b.z, d.x, d.y, d.z, g.x, g.y, g.z, thread::lane_id()];
    }
}

#[kernel]
pub fn transpose(from: &[f32], width: usize, height: usize, mut to: DisjointSlice<f32>) {
    let at = thread::index_2d();
    // SAFETY: every thread gives the same width.
    if let Some(to) = unsafe { to.get_mut_2d(at, height) }
        && at.y() < width
    {
        *to = from[at.x() * width + at.y()];
    }
}

/// Threads of a block of [`block_sums`].
pub const THREADS: u32 = 256;

/// Leaves the sum of every block's elements in its first.
///
/// # Safety
/// `data` must have [`THREADS`] elements for every block, and nobody else may use it.
#[kernel(launch_bounds(256))]
pub unsafe fn block_sums(data: *mut u64) {
    let t = thread::thread_idx_x() as usize;
    let base = thread::block_idx_x() as usize * THREADS as usize;
    let mut half = THREADS as usize / 2;
    while half > 0 {
        if t < half {
            // SAFETY: each thread has its own element, and the barrier keeps the rounds apart.
            unsafe { *data.add(base + t) += *data.add(base + t + half) };
        }
        sync_threads();
        half /= 2;
    }
}

#[kernel]
pub fn increment(mut values: DisjointSlice<u32>) {
    if let Some(value) = values.get_mut(thread::index_1d()) {
        *value += 1;
    }
}

#[kernel(launch_bounds(64, 2))]
pub fn bounded(mut values: DisjointSlice<u32>) {
    if let Some(value) = values.get_mut(thread::index_1d()) {
        *value += 1;
    }
}

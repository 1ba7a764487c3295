//! Waiting for other threads.

use crate::intrinsics::{barrier_sync, barrier_sync_aligned};

/// Waits until every thread of the block that has not ended arrives here: CUDA's `__syncthreads()`. What any of them
/// wrote before is visible to all of them afterwards.
///
/// This is `barrier.sync`, the form in which each thread arrives by itself, because the `.aligned` form is undefined if
/// the threads of a warp diverge (PTX ISA, `barrier`). So calling it is safe: if only some of the block's threads
/// arrive, they wait for ever, which is a bug but not a memory error.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads() {
    barrier_sync();
}

/// The same for code in which all threads of a warp arrive together: `bar.sync`, which `__syncthreads()` is in CUDA
/// C++. It is faster on some devices.
///
/// # Safety
/// All threads of a warp must call this at the same place in the code, or none.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn sync_threads_aligned() {
    barrier_sync_aligned();
}

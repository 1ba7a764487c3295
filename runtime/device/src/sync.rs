//! Waiting for other threads.

use crate::intrinsics::barrier_sync;

/// Waits until every thread of the block that has not ended is here: CUDA's `__syncthreads()`. What any of them wrote
/// before is visible to all of them after.
///
/// This is `barrier.sync`, the form in which each thread arrives for itself, because the `.aligned` form is undefined
/// when the threads of a warp diverge (PTX ISA, `barrier`). So calling it is safe: where only some of the block's
/// threads come, the others' absence makes them wait for ever, which is a bug but no memory error.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads() {
    barrier_sync();
}

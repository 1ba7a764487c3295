//! Waiting for other threads, and fences.
//!
//! | CUDA C++ | here | PTX |
//! |---|---|---|
//! | `__syncthreads()` | [`sync_threads`] | `barrier.sync 0`; `bar.sync 0` where all threads are seen to come together |
//! | `__syncthreads_count`, `_and`, `_or` | [`sync_threads_count`], [`sync_threads_and`], [`sync_threads_or`] | `barrier.red` |
//! | `__barrier_sync_count(n, threads)` | [`NamedBarrier`] | `barrier.sync n, threads` |
//! | `__syncwarp()` | [`sync_warp`], [`warp::Members::sync`](crate::warp::Members::sync) | `bar.warp.sync` |
//! | `__threadfence_block()` | `fence::<Block>(Ordering::SeqCst)` | `fence.sc.cta` |
//! | `__threadfence()` | `fence::<Device>(Ordering::SeqCst)` | `fence.sc.gpu` |
//! | `__threadfence_system()` | `fence::<System>(Ordering::SeqCst)` | `fence.sc.sys` |

pub use crate::atomic::fence;
use crate::intrinsics::{
    barrier_and, barrier_count, barrier_named, barrier_named_arrive, barrier_or, barrier_sync, barrier_sync_aligned,
};
pub use crate::warp::sync_warp;

/// Waits until every thread of the block that has not ended arrives here: CUDA's `__syncthreads()`. What any of them
/// wrote before is visible to all of them afterwards.
///
/// This is `barrier.sync`, the form in which each thread arrives by itself, because the `.aligned` form is undefined if
/// the threads of a warp diverge (PTX ISA, `barrier`). So calling it is safe: if only some of the block's threads
/// arrive, they wait for ever, which is a bug but not a memory error.
///
/// # Panics
/// In debug builds, if another thread of the block waits at another place in the code; so do the functions that count.
#[inline(always)]
#[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
pub fn sync_threads() {
    compare_places();
    barrier_sync();
}

/// In debug builds, waits and compares from where the block's threads come. The barrier that follows keeps the words that
/// this takes until all have read them.
#[inline(always)]
#[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
fn compare_places() {
    #[cfg(debug_assertions)]
    crate::shared::barrier::meet(0, 0);
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

/// [`sync_threads`], and for how many threads of the block `condition` holds: CUDA's `__syncthreads_count()`, PTX
/// `barrier.red.popc.u32` (chapter "Parallel Synchronization and Communication Instructions"), from sm_70.
///
/// It is safe for the reason that [`sync_threads`] is. Threads that have ended do not count.
#[inline(always)]
#[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
pub fn sync_threads_count(condition: bool) -> u32 {
    compare_places();
    barrier_count(condition)
}

/// [`sync_threads`], and whether `condition` holds for all threads of the block: CUDA's `__syncthreads_and()`, PTX
/// `barrier.red.and.pred`, from sm_70.
#[inline(always)]
#[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
pub fn sync_threads_and(condition: bool) -> bool {
    compare_places();
    barrier_and(condition)
}

/// [`sync_threads`], and whether `condition` holds for any thread of the block: CUDA's `__syncthreads_or()`, PTX
/// `barrier.red.or.pred`, from sm_70.
#[inline(always)]
#[cfg_attr(any(debug_assertions, not(target_arch = "nvptx64")), track_caller)]
pub fn sync_threads_or(condition: bool) -> bool {
    compare_places();
    barrier_or(condition)
}

/// One of the block's barriers 1 to 15, at which `THREADS` threads meet, a part of the block. Barrier 0 is
/// [`sync_threads`]'s, and the first ones are those of the kernel's [`#[shared]` parameters](crate::shared), one for each.
///
/// One part can wait while another only arrives, as a producer and a consumer do.
#[derive(Clone, Copy, Debug)]
pub struct NamedBarrier<const NUMBER: u32, const THREADS: u32>;

impl<const NUMBER: u32, const THREADS: u32> NamedBarrier<NUMBER, THREADS> {
    const CHECKED: () = {
        assert!(NUMBER >= 1 && NUMBER <= 15, "barriers are numbered 1 to 15; 0 is that of `sync_threads`");
        assert!(
            THREADS >= 32 && THREADS <= 1024 && THREADS.is_multiple_of(32),
            "whole warps meet at a barrier: 32, 64, … 1024"
        );
    };

    /// Waits until `THREADS` threads have arrived, this one among them. What they wrote before is visible to those that
    /// waited: CUDA's `__barrier_sync_count(NUMBER, THREADS)`, PTX `barrier.sync`, from sm_70.
    ///
    /// # Safety
    /// The block must have that many threads, and every use of this barrier until all of them have arrived must have the
    /// same `THREADS` (PTX ISA, "barrier"). No `#[shared]` parameter of the kernel may have this number.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn sync(self) {
        const { Self::CHECKED };
        barrier_named(NUMBER, THREADS);
    }

    /// Arrives and goes on: PTX `barrier.arrive`, from sm_70. CUDA C++ has no function.
    ///
    /// # Safety
    /// As with [`sync`](Self::sync); and the thread must not arrive again before the `THREADS` have met.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub unsafe fn arrive(self) {
        const { Self::CHECKED };
        barrier_named_arrive(NUMBER, THREADS);
    }
}

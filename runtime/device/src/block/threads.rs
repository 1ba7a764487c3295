//! The block's threads, as the algorithms count them.

use crate::index::{rank_in_block, threads_of_block};

/// Threads of a warp.
pub(super) const WARP: usize = 32;
/// Most warps of a block.
pub(super) const MOST_WARPS: usize = 32;

/// A block of `THREADS` threads.
pub(super) struct Shape<const THREADS: usize>;

impl<const THREADS: usize> Shape<THREADS> {
    /// How many warps it has.
    pub const WARPS: usize = {
        assert!(
            THREADS >= WARP && THREADS <= WARP * MOST_WARPS && THREADS.is_multiple_of(WARP),
            "a block algorithm is for whole warps: 32, 64, … 1024 threads"
        );
        THREADS / WARP
    };

    /// The calling thread's number in the block, x first. It is less than `THREADS`.
    ///
    /// # Panics
    /// If the block has another number of threads.
    #[inline(always)]
    #[track_caller]
    pub fn thread() -> u32 {
        const { assert!(Self::WARPS > 0) };
        let threads = threads_of_block();
        assert!(
            threads as usize == THREADS,
            "a block algorithm for {THREADS} threads was launched with blocks of {threads}"
        );
        rank_in_block()
    }
}

//! All threads of a launch, which must be cooperative.

use core::sync::atomic::Ordering;

use super::{Block, Group};
use crate::atomic::{Atomic, Device};
use crate::control;
use crate::sync::sync_threads_or;
use crate::thread::{block_idx, grid_dim};

/// All threads of the launch: CUDA's `this_grid()`. See [`grid`].
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    barrier: &'a Atomic<u32, Device>,
}

/// All threads of the launch, which meet at a word of global memory: CUDA's `this_grid()`.
///
/// The host must make the word zero before the first launch that uses it, and again after a launch in which a thread
/// panicked; two launches that run at once need a word each. The launch must be cooperative (`Launch::cooperative`), or
/// blocks may wait for ever for those that have no room to begin.
///
/// ```
/// use ptx::atomic::{AtomicSlice, Device, Ordering};
/// use ptx::cooperative::{self, Group as _};
/// use ptx::prelude::*;
///
/// /// Every thread counts itself, and then sees all of them.
/// #[kernel]
/// pub fn all(barrier: AtomicSlice<u32, Device>, count: AtomicSlice<u32, Device>, mut seen: DisjointSlice<u32>) {
///     count[0].fetch_add(1, Ordering::Relaxed);
///     cooperative::grid(&barrier[0]).sync();
///     if let Some(seen) = seen.get_mut(thread::index_1d()) {
///         *seen = count[0].load(Ordering::Relaxed);
///     }
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn grid(barrier: &Atomic<u32, Device>) -> Grid<'_> {
    Grid { barrier }
}

/// The bit of the word that changes when all blocks have come.
const ROUND: u32 = 1 << 31;

/// Turns between two looks for a panic.
const TURNS: u32 = 256;

/// Number of blocks.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn blocks() -> u32 {
    let blocks = grid_dim();
    blocks.x * blocks.y * blocks.z
}

impl Grid<'_> {
    /// Waits for the other blocks; false if a thread has panicked, and they may never come.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn meet(&self) -> bool {
        let (all, at) = (blocks(), block_idx());
        // The blocks' ones and what the first adds make the uppermost bit change, whatever it was before.
        let is_first = (at.x | at.y | at.z) == 0;
        let own = if is_first { ROUND - (all - 1) } else { 1 };
        let before = self.barrier.fetch_add(own, Ordering::AcqRel);
        let mut turn = 0_u32;
        while (before ^ self.barrier.load(Ordering::Acquire)) & ROUND == 0 {
            turn = turn.wrapping_add(1);
            if turn.is_multiple_of(TURNS) && control::has_panicked() {
                return false;
            }
        }
        true
    }
}

impl Group for Grid<'_> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn size(&self) -> u32 {
        blocks() * Block.size()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn rank(&self) -> u32 {
        let (at, of) = (block_idx(), grid_dim());
        ((at.z * of.y + at.y) * of.x + at.x) * Block.size() + Block.rank()
    }

    /// Waits for all threads of the launch that have not ended: CUDA's `grid_group::sync()`. If a thread has panicked
    /// (`after-panic = "exit"`), those that wait leave, too. A block whose first thread has ended counts as one that panicked.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&self) {
        #[cfg(not(target_arch = "nvptx64"))]
        if blocks() > 1 {
            // The CPU runs one block after another.
            crate::cpu::only_on_the_gpu();
        }
        crate::sync_threads();
        let has_met = Block.rank() == 0 && self.meet();
        if !sync_threads_or(has_met) {
            control::exit();
        }
    }
}

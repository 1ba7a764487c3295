//! Copies in the background by stages: the next ones are on their way while one is used.

use super::copies::{copy_async_commit, copy_async_wait};

/// Stages of copies in the background, which this thread fills and waits for in turn: CUDA's `cuda::pipeline` of
/// `thread_scope_thread`, PTX `cp.async.commit_group` and `cp.async.wait_group`, from sm_80.
///
/// `STAGES`, 1 to 8, is how many may be under way at once. The memory is the caller's: as many places in shared memory,
/// told apart by the stage's number.
///
/// | CUDA C++ | here |
/// |---|---|
/// | `cuda::make_pipeline()` | [`CopyPipeline::new`] |
/// | `producer_acquire`, copies, `producer_commit` | [`fill`](Self::fill) |
/// | `cuda::pipeline_consumer_wait_prior<N>`, `consumer_wait` | [`wait`](Self::wait) |
/// | `consumer_release` | none: the next `fill` that takes the stage |
///
/// ```
/// use ptx::memory::{CopyPipeline, copy_async};
/// use ptx::prelude::*;
/// use ptx::Shared;
///
/// #[ptx::shared]
/// static TILES: Shared<[[f32; 128]; 2]>;
///
/// /// Sums of every 128th element, while the next ones are on their way.
/// ///
/// /// # Safety
/// /// Blocks have 128 threads, and `x` has `128 * rounds` elements.
/// #[kernel(launch_bounds(128))]
/// pub unsafe fn sums(x: *const f32, rounds: usize, mut y: DisjointSlice<f32>) {
///     let (i, t) = (thread::index_1d(), thread::thread_idx_x() as usize);
///     let own = |stage: usize| TILES.as_ptr().cast::<f32>().wrapping_add(128 * stage + t);
///     let mut pipeline = CopyPipeline::<2>::new();
///     let mut sum = 0.0;
///     for round in 0..=rounds {
///         if round < rounds {
///             // SAFETY: in bounds. No other thread has this place, and this one has read what was there.
///             pipeline.fill(|stage| unsafe { copy_async(own(stage), x.add(128 * round + t)) });
///         }
///         if round > 0 && let Some(stage) = pipeline.wait() {
///             // SAFETY: it is there.
///             sum += unsafe { own(stage).read() };
///         }
///     }
///     if let Some(y) = y.get_mut(i) {
///         *y = sum;
///     }
/// }
/// ```
///
/// Of what was copied, other threads see nothing before a barrier behind [`wait`](Self::wait); and where they read it,
/// another barrier must stand before the `fill` that takes the stage again.
#[derive(Debug)]
#[must_use = "it does nothing before `fill`"]
pub struct CopyPipeline<const STAGES: usize> {
    next: usize,
    under_way: usize,
}

impl<const STAGES: usize> CopyPipeline<STAGES> {
    /// With no stage under way.
    #[inline(always)]
    pub const fn new() -> Self {
        const { assert!(0 < STAGES && STAGES <= 8, "a pipeline has 1 to 8 stages") };
        Self { next: 0, under_way: 0 }
    }

    /// How many stages are under way: filled, and not waited for.
    #[inline(always)]
    pub const fn under_way(&self) -> usize {
        self.under_way
    }

    /// Fills the next stage: all that `copies` begins by [`copy_async`](super::copy_async) and its kin is one group, which
    /// [`wait`](Self::wait) waits for. `copies` gets the stage's number, which goes from 0 to `STAGES - 1` by turns.
    ///
    /// # Panics
    /// If all stages are under way.
    #[inline(always)]
    #[track_caller]
    pub fn fill(&mut self, copies: impl FnOnce(usize)) {
        assert!(self.under_way < STAGES, "all stages of the pipeline are under way: wait for one first");
        copies(self.next);
        copy_async_commit();
        self.next = if self.next + 1 == STAGES { 0 } else { self.next + 1 };
        self.under_way += 1;
    }

    /// Waits for the stage that was filled first of those under way, and tells its number; `None` if there is none. It
    /// counts the groups behind it, so nobody else may call [`copy_async_commit`] meanwhile: it would return too late or,
    /// behind a group that is not the pipeline's, too early.
    #[inline(always)]
    pub fn wait(&mut self) -> Option<usize> {
        let behind = self.under_way.checked_sub(1)?;
        match behind {
            0 => copy_async_wait::<0>(),
            1 => copy_async_wait::<1>(),
            2 => copy_async_wait::<2>(),
            3 => copy_async_wait::<3>(),
            4 => copy_async_wait::<4>(),
            5 => copy_async_wait::<5>(),
            6 => copy_async_wait::<6>(),
            _ => copy_async_wait::<7>(),
        }
        // Stages go round: the oldest is as far before the next as there are stages under way.
        let stage = self.next + STAGES - self.under_way;
        self.under_way = behind;
        Some(if stage >= STAGES { stage - STAGES } else { stage })
    }
}

impl<const STAGES: usize> Default for CopyPipeline<STAGES> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn stages_go_round_and_the_oldest_is_waited_for() {
        let mut pipeline = CopyPipeline::<3>::new();
        assert_eq!(pipeline.wait(), None);
        let (mut filled, mut waited) = (Vec::new(), Vec::new());
        for round in 0..10 {
            while pipeline.under_way() < 1 + round % 3 {
                pipeline.fill(|stage| filled.push(stage));
            }
            waited.extend(pipeline.wait());
        }
        waited.extend(core::iter::from_fn(|| pipeline.wait()));
        assert_eq!(filled, waited);
        assert!(filled.iter().enumerate().all(|(n, stage)| *stage == n % 3), "{filled:?}");
    }

    #[test]
    #[should_panic(expected = "all stages of the pipeline are under way")]
    fn a_stage_that_is_under_way_is_not_filled() {
        let mut pipeline = CopyPipeline::<1>::new();
        pipeline.fill(|_| {});
        pipeline.fill(|_| {});
    }
}

//! Threads of a warp that are together, whichever they are.

use ptx_abi::bits::Plain;

use super::some::{Coalesced, Sealed};
use super::{Group, WarpGroup};
use crate::warp::{LaneMask, Members};

/// The threads that run this together at this moment: CUDA's `coalesced_threads()`.
///
/// Which they are is up to the GPU: threads that take the same branch may come in several groups, of which each is right
/// by itself (see [`active_mask`](crate::warp::active_mask)).
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn coalesced() -> Coalesced {
    Coalesced::of(Members::active())
}

impl Coalesced {
    fn mask(&self) -> LaneMask {
        self.lanes().mask()
    }

    /// The lane of a rank, of those that are there.
    #[inline(always)]
    fn lane(&self, rank: u32) -> Option<u32> {
        if self.mask() == LaneMask::FULL {
            return if rank < 32 { Some(rank) } else { None };
        }
        self.mask().nth(rank)
    }

    /// The value of a rank, all members asking at once, some perhaps for none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn of_rank<T: Plain + Copy>(&self, value: T, rank: Option<u32>) -> Option<T> {
        let lane = rank.and_then(|rank| self.lane(rank));
        let own = crate::thread::lane_id();
        let given = self.lanes().shuffle(value, lane.unwrap_or(own));
        lane.map(|_| given)
    }
}

impl Sealed for Coalesced {}

impl Group for Coalesced {
    #[inline(always)]
    fn size(&self) -> u32 {
        self.mask().len()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn rank(&self) -> u32 {
        (self.mask() & LaneMask::below()).len()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&self) {
        self.lanes().sync();
    }
}

impl WarpGroup for Coalesced {
    #[inline(always)]
    fn members(&self) -> Members {
        self.lanes()
    }

    #[inline(always)]
    #[track_caller]
    fn shuffle<T: Plain + Copy>(&self, value: T, rank: u32) -> T {
        debug_assert!(rank < self.size(), "a value is asked for of a thread past the end of its group");
        self.of_rank(value, Some(rank)).unwrap_or(value)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_up<T: Plain + Copy>(&self, value: T, delta: u32) -> Option<T> {
        self.of_rank(value, self.rank().checked_sub(delta))
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_down<T: Plain + Copy>(&self, value: T, delta: u32) -> Option<T> {
        self.of_rank(value, self.rank().checked_add(delta))
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn ranks(&self, lanes: LaneMask) -> LaneMask {
        let mut ranks = LaneMask::EMPTY;
        for (rank, lane) in (0..32).zip(self.mask()) {
            if lanes.contains(lane) {
                ranks |= LaneMask::lane(rank);
            }
        }
        ranks
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce<T: Plain + Copy>(&self, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let (mut sum, mut step) = (value, 1);
        while step < self.size() {
            // After each round, a member has combined the next `2 * step` values, or those up to the end.
            if let Some(above) = self.shuffle_down(sum, step) {
                sum = combine(sum, above);
            }
            step *= 2;
        }
        self.shuffle(sum, 0)
    }
}

//! What all groups have, and what those within a warp have.

use ptx_abi::bits::Plain;

use super::some::{Coalesced, Sealed};
use crate::warp::{LaneMask, Members, ReduceBits, ReduceInteger};

/// Threads that can wait for each other.
pub trait Group {
    /// How many threads the group has, those that have ended included: CUDA's `size()`.
    fn size(&self) -> u32;

    /// The caller's number in the group, from 0: CUDA's `thread_rank()`.
    fn rank(&self) -> u32;

    /// Waits for all threads of the group that have not ended; what any of them wrote before is visible to all of them
    /// afterwards: CUDA's `sync()`.
    fn sync(&self);
}

/// A group within a warp. Operations take at least one instruction of the warp (see [`warp`](crate::warp)), and wait for
/// all members that have not ended.
///
/// An associative function gives the same result whichever way it is computed; sums of floats depend on the order, which
/// is the same every time for a tile, and for coalesced threads depends on which they are.
pub trait WarpGroup: Group + Sealed + Copy {
    /// The lanes of the warp that are in the group.
    fn members(&self) -> Members;

    /// The value of the member with that rank: CUDA's `shfl`. Values have at most 64 bytes.
    ///
    /// If that member has ended, or if there is none of that rank, the value is any.
    ///
    /// # Panics
    /// In debug builds, if there is no member of that rank.
    #[must_use]
    fn shuffle<T: Plain + Copy>(&self, value: T, rank: u32) -> T;

    /// The value of the member whose rank is `delta` lower; none if there is no such: CUDA's `shfl_up`.
    #[must_use]
    fn shuffle_up<T: Plain + Copy>(&self, value: T, delta: u32) -> Option<T>;

    /// The value of the member whose rank is `delta` higher; none if there is no such: CUDA's `shfl_down`.
    #[must_use]
    fn shuffle_down<T: Plain + Copy>(&self, value: T, delta: u32) -> Option<T>;

    /// A set of members as a set of ranks.
    #[doc(hidden)]
    fn ranks(&self, lanes: LaneMask) -> LaneMask;

    /// What `combine` makes of all members' values, in all members: CUDA's `reduce`. `combine` must be associative and
    /// commutative, or the result is any of those that an order gives.
    #[must_use]
    fn reduce<T: Plain + Copy>(&self, value: T, combine: impl FnMut(T, T) -> T) -> T;

    /// Whether `condition` holds in all members: CUDA's `all`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn all(&self, condition: bool) -> bool {
        self.members().all(condition)
    }

    /// Whether `condition` holds in any member: CUDA's `any`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn any(&self, condition: bool) -> bool {
        self.members().any(condition)
    }

    /// The ranks of the members in which `condition` holds: CUDA's `ballot`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn ballot(&self, condition: bool) -> LaneMask {
        self.ranks(self.members().ballot(condition))
    }

    /// The ranks of the members whose value has the same bits: CUDA's `match_any`. Values have at most eight bytes.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_any<T: Plain + Copy>(&self, value: T) -> LaneMask {
        self.ranks(self.members().match_any(value))
    }

    /// Whether the value has the same bits in all members: CUDA's `match_all`. Values have at most eight bytes.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_all<T: Plain + Copy>(&self, value: T) -> bool {
        self.members().match_all(value)
    }

    /// The sum over all members, wrapping: CUDA's `reduce` with `plus`. One `redux.sync` from sm_80 on.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_add<T: ReduceInteger>(&self, value: T) -> T {
        if crate::arch() >= 800 {
            return self.members().reduce_add(value);
        }
        self.reduce(value, |a, b| T::of_word(a.to_word().wrapping_add(b.to_word())))
    }

    /// The smallest of all members: CUDA's `reduce` with `less`. One `redux.sync` from sm_80 on.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_min<T: ReduceInteger + Ord>(&self, value: T) -> T {
        if crate::arch() >= 800 { self.members().reduce_min(value) } else { self.reduce(value, Ord::min) }
    }

    /// The largest of all members: CUDA's `reduce` with `greater`. One `redux.sync` from sm_80 on.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_max<T: ReduceInteger + Ord>(&self, value: T) -> T {
        if crate::arch() >= 800 { self.members().reduce_max(value) } else { self.reduce(value, Ord::max) }
    }

    /// The bits that are set in all members: CUDA's `reduce` with `bit_and`. One `redux.sync` from sm_80 on.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_and<T: ReduceBits>(&self, value: T) -> T {
        if crate::arch() >= 800 {
            return self.members().reduce_and(value);
        }
        self.reduce(value, |a, b| T::of_word(a.to_word() & b.to_word()))
    }

    /// The bits that are set in any member: CUDA's `reduce` with `bit_or`. One `redux.sync` from sm_80 on.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_or<T: ReduceBits>(&self, value: T) -> T {
        if crate::arch() >= 800 {
            return self.members().reduce_or(value);
        }
        self.reduce(value, |a, b| T::of_word(a.to_word() | b.to_word()))
    }

    /// The bits that are set in an odd number of members: CUDA's `reduce` with `bit_xor`. One `redux.sync` from sm_80 on.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_xor<T: ReduceBits>(&self, value: T) -> T {
        if crate::arch() >= 800 {
            return self.members().reduce_xor(value);
        }
        self.reduce(value, |a, b| T::of_word(a.to_word() ^ b.to_word()))
    }

    /// What `combine` makes of the values of all members up to the caller, in the order of their ranks: CUDA's
    /// `inclusive_scan`. `combine` must be associative.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn inclusive_scan<T: Plain + Copy>(&self, value: T, mut combine: impl FnMut(T, T) -> T) -> T {
        let (mut sum, mut step) = (value, 1);
        // All members go through all rounds: whoever has no member below only gives.
        while step < self.size() {
            if let Some(below) = self.shuffle_up(sum, step) {
                sum = combine(below, sum);
            }
            step *= 2;
        }
        sum
    }

    /// What `combine` makes of the values of all members below the caller, in the order of their ranks, `identity` in the
    /// first: CUDA's `exclusive_scan`. `combine` must be associative.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn exclusive_scan<T: Plain + Copy>(&self, value: T, identity: T, combine: impl FnMut(T, T) -> T) -> T {
        let up_to_here = self.inclusive_scan(value, combine);
        self.shuffle_up(up_to_here, 1).unwrap_or(identity)
    }

    /// The members whose label has the same bits as the caller's: CUDA's `labeled_partition`. Labels have at most eight
    /// bytes.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn partition_by<T: Plain + Copy>(&self, label: T) -> Coalesced {
        Coalesced::of(self.members().with_equal(label))
    }

    /// The members with the caller's `condition`: CUDA's `binary_partition`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn partition(&self, condition: bool) -> Coalesced {
        Coalesced::of(self.members().with_same(condition))
    }

    /// Calls a function in one member, whichever the GPU chooses, and gives its result there: CUDA's `invoke_one`.
    /// `elect.sync` from sm_90 on; before, the lowest member.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn invoke_one<R>(&self, function: impl FnOnce() -> R) -> Option<R> {
        let chosen = if crate::arch() >= 900 { self.members().elect() } else { self.members().is_lowest() };
        if chosen { Some(function()) } else { None }
    }

    /// Calls a function in the lowest member, and gives its result to all: CUDA's `invoke_one_broadcast`.
    ///
    /// If that member has ended, the result is any.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn invoke_one_broadcast<R: Plain + Copy + Default>(&self, function: impl FnOnce() -> R) -> R {
        let result = if self.rank() == 0 { function() } else { R::default() };
        self.shuffle(result, 0)
    }
}

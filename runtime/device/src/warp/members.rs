//! The lanes that take part in an operation, and the operations.

use core::marker::PhantomData;

use ptx_abi::bits::Plain;

use super::LaneMask;
use super::instructions as ptx;
use super::instructions::{bits_of, by_words, clamp, clamp_up};
use crate::intrinsics::warp_sync;
use crate::thread::lane_id;

/// Lanes of a warp, of which the thread that holds them is one.
///
/// They stay with their thread: the type is neither `Send` nor `Sync`, nor can it go through memory as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    mask: LaneMask,
    of_this_thread: PhantomData<*mut ()>,
}

/// All lanes of the warp. Those that have ended, or that the block never had, are not waited for.
pub const ALL: Members = Members { mask: LaneMask::FULL, of_this_thread: PhantomData };

/// The lanes that run this together at this moment: CUDA's `__activemask()`, PTX `activemask` (chapter "Parallel
/// Synchronization and Communication Instructions"), from sm_70.
///
/// It synchronises nothing and promises nothing of the next instruction: two threads of a warp that take the same branch
/// need not be in one another's mask. Whoever must take part is to be named, as by [`ALL`] before a branch and
/// [`Members::ballot`] of its condition.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn active_mask() -> LaneMask {
    LaneMask::from_bits(ptx::activemask())
}

/// Waits for all lanes of the warp that have not ended: CUDA's `__syncwarp()`. See [`Members::sync`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_warp() {
    ALL.sync();
}

/// An integer that [`Members::reduce_add`] and others take: `u32` and `i32`.
pub trait ReduceInteger: ReduceBits {
    #[doc(hidden)]
    fn smallest(self, mask: u32) -> Self;
    #[doc(hidden)]
    fn largest(self, mask: u32) -> Self;
}

/// Bits that [`Members::reduce_and`] and others take: `u32` and `i32`.
pub trait ReduceBits: Plain + Copy + sealed::Sealed {
    #[doc(hidden)]
    fn to_word(self) -> u32;
    #[doc(hidden)]
    fn of_word(word: u32) -> Self;
}

mod sealed {
    /// A supertrait that other crates cannot implement.
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
}

macro_rules! integers {
    ($($ty:ident $min:ident $max:ident;)*) => {$(
        impl ReduceBits for $ty {
            #[inline(always)]
            fn to_word(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn of_word(word: u32) -> Self {
                word as Self
            }
        }
        impl ReduceInteger for $ty {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn smallest(self, mask: u32) -> Self {
                ptx::$min(self as u32, mask) as Self
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn largest(self, mask: u32) -> Self {
                ptx::$max(self as u32, mask) as Self
            }
        }
    )*};
}
integers! {
    u32 redux_umin redux_umax;
    i32 redux_min redux_max;
}

impl Members {
    /// The lanes that run this together at this moment, by [`active_mask`].
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn active() -> Self {
        Self::of(active_mask())
    }

    /// These lanes.
    ///
    /// # Panics
    /// If the caller's is not among them.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn new(mask: LaneMask) -> Self {
        assert!(mask.contains(lane_id()), "the calling thread's lane is not in the mask");
        Self::of(mask)
    }

    /// These lanes, unless the caller's is not among them.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn try_new(mask: LaneMask) -> Option<Self> {
        if mask.contains(lane_id()) { Some(Self::of(mask)) } else { None }
    }

    /// These lanes, without looking.
    ///
    /// # Safety
    /// The caller's lane must be among them: PTX defines no operation for a thread that is not in its own mask (PTX ISA,
    /// "shfl.sync", "vote.sync"). Debug builds panic.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub unsafe fn new_unchecked(mask: LaneMask) -> Self {
        if cfg!(debug_assertions) {
            return Self::new(mask);
        }
        Self::of(mask)
    }

    /// Of lanes that are known to include the caller's.
    #[inline(always)]
    pub(crate) const fn of(mask: LaneMask) -> Self {
        Self { mask, of_this_thread: PhantomData }
    }

    /// The lanes that take part, as plain data.
    #[inline(always)]
    #[must_use]
    pub const fn mask(self) -> LaneMask {
        self.mask
    }

    const fn bits(self) -> u32 {
        self.mask.bits()
    }

    /// In debug builds, panics if a lane is none of these.
    #[inline(always)]
    #[track_caller]
    fn look(self, lane: u32) {
        debug_assert!(self.mask.contains(lane), "a value is asked for of a lane that is not in the mask");
    }

    /// Waits for these lanes; what any of them wrote before is visible to all of them afterwards: CUDA's
    /// `__syncwarp(mask)`, PTX `bar.warp.sync` (chapter "Parallel Synchronization and Communication Instructions"), from
    /// sm_70.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn sync(self) {
        warp_sync(self.bits());
    }

    /// The value that lane `lane % 32` has: CUDA's `__shfl_sync(mask, value, lane)`, PTX `shfl.sync.idx.b32` for every 32
    /// bits (chapter "Data Movement and Conversion Instructions"), from sm_70. Values have at most 64 bytes.
    ///
    /// If that lane is not among these, or has ended, the value is any.
    ///
    /// # Panics
    /// In debug builds, if that lane is not among these.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn shuffle<T: Plain + Copy>(self, value: T, lane: u32) -> T {
        self.look(lane % 32);
        by_words(value, |word| ptx::shfl_idx(self.bits(), word, lane, clamp(32)))
    }

    /// The value of the lane that is `delta` lower, or the caller's own if there is none: CUDA's `__shfl_up_sync`, PTX
    /// `shfl.sync.up.b32`, from sm_70. Values have at most 64 bytes.
    ///
    /// If that lane is not among these, or has ended, the value is any. Of `delta` only the lowest five bits count.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn shuffle_up<T: Plain + Copy>(self, value: T, delta: u32) -> T {
        by_words(value, |word| ptx::shfl_up(self.bits(), word, delta, clamp_up(32)))
    }

    /// The value of the lane that is `delta` higher, or the caller's own if there is none: CUDA's `__shfl_down_sync`, PTX
    /// `shfl.sync.down.b32`, from sm_70. Values have at most 64 bytes.
    ///
    /// If that lane is not among these, or has ended, the value is any. Of `delta` only the lowest five bits count.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn shuffle_down<T: Plain + Copy>(self, value: T, delta: u32) -> T {
        by_words(value, |word| ptx::shfl_down(self.bits(), word, delta, clamp(32)))
    }

    /// The value of the lane whose number differs from the caller's in these bits: CUDA's `__shfl_xor_sync`, PTX
    /// `shfl.sync.bfly.b32`, from sm_70. Values have at most 64 bytes.
    ///
    /// If that lane is not among these, or has ended, the value is any. Of `lanes` only the lowest five bits count.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn shuffle_xor<T: Plain + Copy>(self, value: T, lanes: u32) -> T {
        by_words(value, |word| ptx::shfl_bfly(self.bits(), word, lanes, clamp(32)))
    }

    /// Whether `condition` holds in all of these lanes: CUDA's `__all_sync`, PTX `vote.sync.all.pred`, from sm_70.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn all(self, condition: bool) -> bool {
        ptx::vote_all(self.bits(), condition)
    }

    /// Whether `condition` holds in any of these lanes: CUDA's `__any_sync`, PTX `vote.sync.any.pred`, from sm_70.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn any(self, condition: bool) -> bool {
        ptx::vote_any(self.bits(), condition)
    }

    /// Whether `condition` is the same in all of these lanes: CUDA's `__uni_sync`, PTX `vote.sync.uni.pred`, from sm_70.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn uniform(self, condition: bool) -> bool {
        ptx::vote_uni(self.bits(), condition)
    }

    /// Those of these lanes in which `condition` holds: CUDA's `__ballot_sync`, PTX `vote.sync.ballot.b32`, from sm_70.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn ballot(self, condition: bool) -> LaneMask {
        LaneMask::from_bits(ptx::vote_ballot(self.bits(), condition))
    }

    /// Those of these lanes whose value has the same bits as the caller's: CUDA's `__match_any_sync`, PTX
    /// `match.any.sync.b32`, or `.b64` for more than four bytes, from sm_70. Values have at most eight bytes.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn match_any<T: Plain + Copy>(self, value: T) -> LaneMask {
        let bits = bits_of(value);
        LaneMask::from_bits(if size_of::<T>() <= 4 {
            ptx::match_any_32(self.bits(), bits as u32)
        } else {
            ptx::match_any_64(self.bits(), bits)
        })
    }

    /// The lanes with the caller's value, as those that may go on together: [`match_any`](Self::match_any).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn with_equal<T: Plain + Copy>(self, value: T) -> Self {
        // The caller's value has the caller's bits.
        Self::of(self.match_any(value))
    }

    /// The lanes with the caller's `condition`, as those that may go on together: [`ballot`](Self::ballot).
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn with_same(self, condition: bool) -> Self {
        let those = self.ballot(condition);
        Self::of(if condition { those } else { self.mask - those })
    }

    /// Whether the value has the same bits in all of these lanes: CUDA's `__match_all_sync`, PTX `match.all.sync.b32`, or
    /// `.b64` for more than four bytes, from sm_70. Values have at most eight bytes.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn match_all<T: Plain + Copy>(self, value: T) -> bool {
        let bits = bits_of(value);
        let both = if size_of::<T>() <= 4 {
            ptx::match_all_32(self.bits(), bits as u32)
        } else {
            ptx::match_all_64(self.bits(), bits)
        };
        both >> 32 != 0
    }

    /// The sum over these lanes, wrapping: CUDA's `__reduce_add_sync`, PTX `redux.sync.add`, from sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_add<T: ReduceInteger>(self, value: T) -> T {
        T::of_word(ptx::redux_add(value.to_word(), self.bits()))
    }

    /// The smallest over these lanes: CUDA's `__reduce_min_sync`, PTX `redux.sync.min`, from sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_min<T: ReduceInteger>(self, value: T) -> T {
        value.smallest(self.bits())
    }

    /// The largest over these lanes: CUDA's `__reduce_max_sync`, PTX `redux.sync.max`, from sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_max<T: ReduceInteger>(self, value: T) -> T {
        value.largest(self.bits())
    }

    /// The bits that are set in all of these lanes: CUDA's `__reduce_and_sync`, PTX `redux.sync.and`, from sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_and<T: ReduceBits>(self, value: T) -> T {
        T::of_word(ptx::redux_and(value.to_word(), self.bits()))
    }

    /// The bits that are set in any of these lanes: CUDA's `__reduce_or_sync`, PTX `redux.sync.or`, from sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_or<T: ReduceBits>(self, value: T) -> T {
        T::of_word(ptx::redux_or(value.to_word(), self.bits()))
    }

    /// The bits that are set in an odd number of these lanes: CUDA's `__reduce_xor_sync`, PTX `redux.sync.xor`, from
    /// sm_80.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn reduce_xor<T: ReduceBits>(self, value: T) -> T {
        T::of_word(ptx::redux_xor(value.to_word(), self.bits()))
    }

    /// True in exactly one of these lanes, whichever the GPU chooses: PTX `elect.sync` (chapter "Parallel Synchronization
    /// and Communication Instructions"), from sm_90. CUDA C++ has it as `cooperative_groups::invoke_one`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn elect(self) -> bool {
        ptx::elect(self.bits()) >> 32 != 0
    }

    /// Whether the caller's is the lowest of these lanes: one of them on every GPU, without an instruction of the warp.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn is_lowest(self) -> bool {
        self.mask.lowest() == Some(lane_id())
    }
}

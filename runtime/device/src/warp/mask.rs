//! Sets of a warp's lanes.

use core::fmt;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Sub};

use super::instructions::{lanemask_ge, lanemask_gt, lanemask_le, lanemask_lt};

/// A set of a warp's 32 lanes, bit 0 for lane 0: what CUDA C++ passes as `unsigned mask`.
///
/// It is plain data, which says nothing of who holds it: [`Members`](super::Members) is what a thread takes part with.
///
/// ```
/// use ptx::warp::LaneMask;
///
/// let even = LaneMask::from_bits(0x5555_5555);
/// assert_eq!((even.len(), even.lowest(), even.nth(3)), (16, Some(0), Some(6)));
/// assert!((even & !even).is_empty());
/// assert_eq!((LaneMask::first(4) & even).iter().collect::<Vec<_>>(), [0, 2]);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LaneMask(u32);

impl LaneMask {
    /// All 32 lanes.
    pub const FULL: Self = Self(u32::MAX);
    /// None.
    pub const EMPTY: Self = Self(0);

    /// The lanes whose bits are set.
    #[inline(always)]
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// A bit for each lane.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// One lane; none if `lane` is 32 or more.
    #[inline(always)]
    #[must_use]
    pub const fn lane(lane: u32) -> Self {
        Self(if lane < 32 { 1 << lane } else { 0 })
    }

    /// The lanes below `count`.
    #[inline(always)]
    #[must_use]
    pub const fn first(count: u32) -> Self {
        Self(if count < 32 { (1 << count) - 1 } else { u32::MAX })
    }

    /// The lanes below the caller's: PTX `%lanemask_lt` (chapter "Special Registers").
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn below() -> Self {
        Self(lanemask_lt())
    }

    /// The caller's lane and those below: PTX `%lanemask_le`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn up_to() -> Self {
        Self(lanemask_le())
    }

    /// The lanes above the caller's: PTX `%lanemask_gt`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn above() -> Self {
        Self(lanemask_gt())
    }

    /// The caller's lane and those above: PTX `%lanemask_ge`.
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn from_here() -> Self {
        Self(lanemask_ge())
    }

    /// Whether a lane is among them; no lane from 32 on is.
    #[inline(always)]
    #[must_use]
    pub const fn contains(self, lane: u32) -> bool {
        lane < 32 && self.0 >> lane & 1 != 0
    }

    /// How many there are: `popc.b32`.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The lowest lane.
    #[inline(always)]
    #[must_use]
    pub const fn lowest(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros()) }
    }

    /// The highest lane.
    #[inline(always)]
    #[must_use]
    pub const fn highest(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(31 - self.0.leading_zeros()) }
    }

    /// The lane that has `n` others of the set below it: CUDA's `__fns(mask, 0, n + 1)`.
    #[inline(always)]
    #[must_use]
    pub fn nth(self, n: u32) -> Option<u32> {
        if n < self.len() { Some(crate::bits::fns(self.0, 0, n as i32 + 1)) } else { None }
    }

    /// The lanes in rising order.
    #[inline(always)]
    pub fn iter(self) -> Lanes {
        Lanes(self.0)
    }
}

/// The lanes of a [`LaneMask`], in rising order.
#[derive(Clone, Debug)]
pub struct Lanes(u32);

impl Iterator for Lanes {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let lane = LaneMask(self.0).lowest()?;
        self.0 &= self.0 - 1;
        Some(lane)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Lanes {}
impl core::iter::FusedIterator for Lanes {}

impl IntoIterator for LaneMask {
    type Item = u32;
    type IntoIter = Lanes;

    #[inline(always)]
    fn into_iter(self) -> Lanes {
        self.iter()
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident, $assign:ident $assign_method:ident;)*) => {$(
        impl $trait for LaneMask {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        }
        impl $assign for LaneMask {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                self.0.$assign_method(other.0);
            }
        }
    )*};
}
operators! {
    BitAnd bitand, BitAndAssign bitand_assign;
    BitOr bitor, BitOrAssign bitor_assign;
    BitXor bitxor, BitXorAssign bitxor_assign;
}

impl Not for LaneMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// The lanes of the first that are not in the second.
impl Sub for LaneMask {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneMask({:#010x})", self.0)
    }
}

ptx_abi::abi_by_value!(
    LaneMask,
    Unsigned,
    ptx_abi::cxx::Cxx::Builtin(ptx_abi::cxx::Builtin::UnsignedInt),
    diagnostic::do_not_recommend
);

#[diagnostic::do_not_recommend]
// SAFETY: 32 bits, all of them lanes.
unsafe impl ptx_abi::bits::Plain for LaneMask {}

#[cfg(not(target_arch = "nvptx64"))]
// SAFETY: the layout is the device's.
unsafe impl cudarc::driver::DeviceRepr for LaneMask {}

#[cfg(not(target_arch = "nvptx64"))]
// SAFETY: zero is the empty set.
unsafe impl cudarc::driver::ValidAsZeroBits for LaneMask {}

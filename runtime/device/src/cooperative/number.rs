//! Values that threads exchange, and numbers that are summed and compared.

use ptx_abi::bits::Plain;

use super::{WarpGroup, tile};
use crate::warp;

/// A value that algorithms of a block take: any bits are one, so that no thread need have written it.
pub trait Value: Plain + Copy + 'static {}
impl<T: Plain + Copy + 'static> Value for T {}

mod sealed {
    /// A supertrait that other crates cannot implement.
    pub trait Sealed {}
}

/// A number with a sum, a minimum and a maximum: integers of 8 to 64 bits, whose sums wrap, `f32` and `f64`.
pub trait Number: Value + PartialOrd + sealed::Sealed {
    /// What changes no sum.
    const ZERO: Self;

    /// The sum of two.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The smaller of two; of a NaN and a number, the number.
    #[must_use]
    fn smaller(self, other: Self) -> Self;

    /// The larger of two; of a NaN and a number, the number.
    #[must_use]
    fn larger(self, other: Self) -> Self;

    /// The sum over a warp, in all of its lanes: `redux.sync.add` from sm_80 on for integers of up to 32 bits.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sum_of_warp(self) -> Self {
        tile::<32>().reduce(self, Self::plus)
    }

    /// The smallest of a warp.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn smallest_of_warp(self) -> Self {
        tile::<32>().reduce(self, Self::smaller)
    }

    /// The largest of a warp.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn largest_of_warp(self) -> Self {
        tile::<32>().reduce(self, Self::larger)
    }

    /// The sums over a warp up to each lane and below it.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sums_of_warp(self) -> (Self, Self) {
        let up_to_here = tile::<32>().inclusive_scan(self, Self::plus);
        (up_to_here, tile::<32>().shuffle_up(up_to_here, 1).unwrap_or(Self::ZERO))
    }

    /// The sum over those lanes of a warp that count, and over all of them, if `redux.sync.add` computes these.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sums_of_some(_of_lane: impl FnOnce() -> Self, _counts: bool) -> Option<(Self, Self)> {
        None
    }
}

macro_rules! integers {
    ($($ty:ident $wide:ident,)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Number for $ty {
            const ZERO: Self = 0;
            integers!(@two);
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn sum_of_warp(self) -> Self {
                integers!(@warp self, $ty, $wide, reduce_add, plus)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn smallest_of_warp(self) -> Self {
                integers!(@warp self, $ty, $wide, reduce_min, smaller)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn largest_of_warp(self) -> Self {
                integers!(@warp self, $ty, $wide, reduce_max, larger)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn sums_of_warp(self) -> (Self, Self) {
                let up_to_here = tile::<32>().inclusive_scan(self, Self::plus);
                (up_to_here, up_to_here.wrapping_sub(self))
            }
            integers!(@some $ty, $wide);
        }
    )*};
    (@two) => {
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            Ord::min(self, other)
        }
        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            Ord::max(self, other)
        }
    };
    (@some $ty:ident, none) => {};
    (@some $ty:ident, $wide:ident) => {
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        fn sums_of_some(of_lane: impl FnOnce() -> Self, counts: bool) -> Option<(Self, Self)> {
            if crate::arch() < 800 {
                return None;
            }
            let of_lane = $wide::from(of_lane());
            let counted = if counts { of_lane } else { 0 };
            Some((warp::ALL.reduce_add(counted) as $ty, warp::ALL.reduce_add(of_lane) as $ty))
        }
    };
    (@warp $self:ident, $ty:ident, none, $redux:ident, $two:ident) => { tile::<32>().reduce($self, Self::$two) };
    (@warp $self:ident, $ty:ident, $wide:ident, $redux:ident, $two:ident) => {
        if crate::arch() >= 800 {
            warp::ALL.$redux($wide::from($self)) as $ty
        } else {
            tile::<32>().reduce($self, Self::$two)
        }
    };
}
integers! { u8 u32, u16 u32, u32 u32, i8 i32, i16 i32, i32 i32, u64 none, i64 none, }

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Number for $ty {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}
floats! { f32 f64 }

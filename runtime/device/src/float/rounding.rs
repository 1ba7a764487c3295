//! Arithmetic with the rounding named (Floating Point and IEEE 754 12.8, §3.2): one PTX instruction each, which no mode
//! changes and which is never fused with another.
//!
//! On the host the results are the same, computed with integers; only the bits of a NaN may differ.

#[cfg(not(target_arch = "nvptx64"))]
use super::exact::{self, Form, Round};
use crate::{rounding_operations, single_operations};

macro_rules! rounding {
    ($($method:ident, $op:ident, $round:ident, [$($operand:ident),*], $cuda32:literal, $cuda64:literal,
       $symbol32:literal, $symbol64:literal;)*) => {
        /// Addition, subtraction, multiplication, fused multiply-add, reciprocal, division and square root, each with
        /// its rounding: to nearest with ties to even (`rn`), towards zero (`rz`), up (`ru`), down (`rd`).
        ///
        /// Subnormal numbers count, whatever the mode `ftz`; nvcc's functions of the same names flush them under
        /// `-ftz=true`. See [`SingleRounding`] for the forms that flush.
        ///
        /// ```
        /// use ptx::float::Rounding;
        ///
        /// assert_eq!(1.0_f32.add_ru(1e-30), 1.0 + f32::EPSILON);
        /// assert_eq!(1.0_f64.div_rd(3.0), 0.333_333_333_333_333_31);
        /// ```
        pub trait Rounding: Copy + super::sealed::Sealed {
            $(
                #[doc = concat!("CUDA's `", $cuda32, "`, `", $cuda64, "`.")]
                #[must_use]
                fn $method(self $(, $operand: Self)*) -> Self;
            )*
        }

        rounding!(@implement f32, $($method, $op, $round, [$($operand),*], $symbol32;)*);
        rounding!(@implement f64, $($method, $op, $round, [$($operand),*], $symbol64;)*);
    };
    (@implement $ty:ident, $($method:ident, $op:ident, $round:ident, [$($operand:ident),*], $symbol:literal;)*) => {
        impl Rounding for $ty {
            $(
                #[inline(always)]
                fn $method(self $(, $operand: Self)*) -> Self {
                    instruction!(
                        $symbol, (self: $ty $(, $operand: $ty)*) -> $ty,
                        exact::$op(self $(, $operand)*, Round::$round)
                    )
                }
            )*
        }
    };
}
rounding_operations!(rounding);

macro_rules! single {
    ($($method:ident, $op:ident, $round:ident, [$($operand:ident),*], $form:ident, $ptx:literal, $symbol:literal;)*) => {
        /// Forms of [`Rounding`]'s operations that only `f32` has. `ftz`: subnormal operands and results are zeros of
        /// the same sign; a result below the smallest normal number after rounding to 24 bits is zero, even if the
        /// fewer bits of subnormal numbers would round it up. `sat`: results are clamped to 0.0 to 1.0, NaN to 0.0.
        pub trait SingleRounding: Rounding {
            $(
                #[doc = concat!("PTX `", $ptx, "`.")]
                #[must_use]
                fn $method(self $(, $operand: Self)*) -> Self;
            )*
        }

        impl SingleRounding for f32 {
            $(
                #[inline(always)]
                fn $method(self $(, $operand: Self)*) -> Self {
                    instruction!($symbol, (self: f32 $(, $operand: f32)*) -> f32, {
                        let form = Form::$form;
                        form.apply(exact::$op(form.operand(self) $(, form.operand($operand))*, Round::$round), || {
                            exact::$op(exact::wide(form.operand(self)) $(, exact::wide(form.operand($operand)))*, Round::$round)
                        })
                    })
                }
            )*
        }
    };
}
single_operations!(single);

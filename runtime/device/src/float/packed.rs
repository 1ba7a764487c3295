//! Two 16-bit numbers in one register, as CUDA's `__half2` and `__nv_bfloat162` are.
//!
//! To CUDA C++ both are `unsigned int`: CUDA's classes are passed to functions by address (see [`crate::ffi`]).

use core::ops::{Add, Mul, Neg, Sub};

use half::{bf16, f16};
use ptx_abi::abi_by_value;
use ptx_abi::cxx::{Builtin, Cxx};

#[cfg(not(target_arch = "nvptx64"))]
use super::exact::{self, Brain, Form, Half, Round};
#[cfg(not(target_arch = "nvptx64"))]
use super::half::host;
use crate::{half_forms, half_operations, to_packed_conversions};

macro_rules! packed {
    ($($(#[$doc:meta])* $name:ident, $lane:ident, $bits:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(
            /// The lanes' bits, lane 0 lowest.
            pub u32,
        );

        impl $name {
            /// A pair of these lanes, the lower one first.
            #[inline(always)]
            #[must_use]
            pub const fn new(low: $lane, high: $lane) -> Self {
                Self(low.to_bits() as u32 | (high.to_bits() as u32) << 16)
            }

            /// The same value in both lanes.
            #[inline(always)]
            #[must_use]
            pub const fn splat(value: $lane) -> Self {
                Self::new(value, value)
            }

            /// The lower lane, lane 0.
            #[inline(always)]
            #[must_use]
            pub const fn low(self) -> $lane {
                $lane::from_bits((self.0 & 0xffff) as u16)
            }

            /// The upper lane, lane 1.
            #[inline(always)]
            #[must_use]
            pub const fn high(self) -> $lane {
                $lane::from_bits((self.0 >> 16) as u16)
            }

            /// Both lanes, the lower first.
            #[inline(always)]
            #[must_use]
            pub const fn to_array(self) -> [$lane; 2] {
                [self.low(), self.high()]
            }

            /// The pair with its lanes exchanged.
            #[inline(always)]
            #[must_use]
            pub const fn swap(self) -> Self {
                Self(self.0.rotate_left(16))
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn lanes<const N: usize>(operands: [Self; N], lane: impl Fn([$bits; N]) -> $bits) -> u32 {
                let low = lane(operands.map(|operand| $bits(operand.low().to_bits())));
                let high = lane(operands.map(|operand| $bits(operand.high().to_bits())));
                u32::from(low.0) | u32::from(high.0) << 16
            }
        }

        impl From<[$lane; 2]> for $name {
            #[inline(always)]
            fn from([low, high]: [$lane; 2]) -> Self {
                Self::new(low, high)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.low().to_f32()).field(&self.high().to_f32()).finish()
            }
        }

        packed!(@operators $name, Add add add_rn, Sub sub sub_rn, Mul mul mul_rn);

        /// `negated`
        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.negated()
            }
        }

        abi_by_value!($name, Unsigned, Cxx::Builtin(Builtin::UnsignedInt), diagnostic::do_not_recommend);

        #[diagnostic::do_not_recommend]
        // SAFETY: 32 bits, all of them numbers.
        unsafe impl ptx_abi::bits::Plain for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: the layout is the device's.
        unsafe impl cudarc::driver::DeviceRepr for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: zero is a number.
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}
    )*};
    (@operators $name:ident, $($trait:ident $method:ident $rounded:ident),*) => {$(
        #[doc = concat!("`", stringify!($rounded), "`")]
        impl $trait for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.$rounded(other)
            }
        }
    )*};
}

packed! {
    /// Two `f16` in one register: `.f16x2` in PTX.
    F16x2, f16, Half;
    /// Two `bf16` in one register: `.bf16x2` in PTX, from sm_80.
    Bf16x2, bf16, Brain;
}

macro_rules! arithmetic {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*],
       $half:literal, $brain:literal, $half2:literal, $brain2:literal;)*) => {
        arithmetic!(@implement F16x2, $($method, $op, $form, [$($operand),*], $half2;)*);
        arithmetic!(@implement Bf16x2, $($method, $op, $form, [$($operand),*], $brain2;)*);
    };
    (@implement $ty:ident, $($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $symbol:literal;)*) => {
        /// Lane by lane what `HalfArithmetic` has for one number.
        impl $ty {
            $(
                #[doc = concat!("`", stringify!($method), "` in both lanes.")]
                #[inline(always)]
                #[must_use]
                pub fn $method(self $(, $operand: Self)*) -> Self {
                    let a = self.0;
                    $(let $operand = $operand.0;)*
                    Self(instruction!($symbol, (a: u32 $(, $operand: u32)*) -> u32, {
                        Self::lanes([Self(a) $(, Self($operand))*], |[a $(, $operand)*]| {
                            Form::$form.result(host::$op(a $(, $operand)*))
                        })
                    }))
                }
            )*
        }
    };
}
half_operations!(arithmetic);

macro_rules! forms {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $single:literal, $symbol:literal;)*) => {
        /// Lane by lane what `HalfForms` has for one number.
        impl F16x2 {
            $(
                #[doc = concat!("`", stringify!($method), "` in both lanes.")]
                #[inline(always)]
                #[must_use]
                pub fn $method(self $(, $operand: Self)*) -> Self {
                    let a = self.0;
                    $(let $operand = $operand.0;)*
                    Self(instruction!($symbol, (a: u32 $(, $operand: u32)*) -> u32, {
                        let form = Form::$form;
                        Self::lanes([Self(a) $(, Self($operand))*], |[a $(, $operand)*]| {
                            form.apply(exact::$op(form.operand(a) $(, form.operand($operand))*, Round::Nearest), || {
                            exact::$op(exact::wide(form.operand(a)) $(, exact::wide(form.operand($operand)))*, Round::Nearest)
                        })
                        })
                    }))
                }
            )*
        }
    };
}
half_forms!(forms);

macro_rules! conversions {
    ($($function:ident, $round:ident, $form:ident, $half:literal, $brain:literal;)*) => {
        conversions!(@implement F16x2, f16, Half, $($function, $round, $form, $half;)*);
        conversions!(@implement Bf16x2, bf16, Brain, $($function, $round, $form, $brain;)*);
    };
    (@implement $ty:ident, $lane:ident, $bits:ident, $($function:ident, $round:ident, $form:ident, $symbol:literal;)*) => {
        /// Of two `f32`, the lower lane first. All but `from_f32_rn` need sm_80. `relu`: a negative result is zero.
        /// `satfinite`: what is beyond the largest number becomes that number.
        impl $ty {
            $(
                /// Rounded as the name says.
                #[inline(always)]
                #[must_use]
                pub fn $function(low: f32, high: f32) -> Self {
                    Self(instruction!($symbol, (high: f32, low: f32) -> u32, {
                        let lane = |value: f32| {
                            $lane::from_bits(Form::$form.result(exact::convert::<_, $bits>(value, Round::$round)).0)
                        };
                        Self::new(lane(low), lane(high)).0
                    }))
                }
            )*
        }
    };
}
to_packed_conversions!(conversions);

macro_rules! approximations {
    ($($(#[$doc:meta])* $method:ident $ty:ident, $symbol:literal, $trait:ident;)*) => {$(
        impl $ty {
            $(#[$doc])*
            #[inline(always)]
            #[must_use]
            pub fn $method(self) -> Self {
                let bits = self.0;
                Self(instruction!($symbol, (bits: u32) -> u32, {
                    let [low, high] = Self(bits).to_array().map(super::half::$trait::$method);
                    Self::new(low, high).0
                }))
            }
        }
    )*};
}
approximations! {
    /// CUDA's `h2tanh_approx`; from sm_75.
    tanh_approx F16x2, "__ptx_tanh.approx.f16x2", HalfArithmetic;
    /// CUDA's `h2tanh_approx`; from sm_90.
    tanh_approx Bf16x2, "__ptx_tanh.approx.bf16x2", HalfArithmetic;
    /// PTX `ex2.approx.f16x2`; from sm_75.
    exp2_approx F16x2, "__ptx_ex2.approx.f16x2", HalfForms;
}

//! Arithmetic of `f16` and `bf16`, with every form that PTX has, and conversions to and from them.

use half::{bf16, f16};

#[cfg(not(target_arch = "nvptx64"))]
use super::approx::Approx as _;
use super::convert::{ToInteger, ToIntegral};
#[cfg(not(target_arch = "nvptx64"))]
use super::exact::{self, Brain, Form, Half, Round};
use crate::{
    half_forms, half_operations, half_to_integer_conversions, half_to_integral_conversions, to_half_conversions,
    to_half_forms,
};

macro_rules! arithmetic {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*],
       $half:literal, $brain:literal, $half2:literal, $brain2:literal;)*) => {
        /// Arithmetic of 16 bits, rounded to nearest with ties to even, which is never fused and which no mode changes.
        ///
        /// `relu`: a negative result is zero. `minimum`, `maximum`: of a number and NaN, the number; with `_nan`, NaN.
        /// `f16`'s relu, minima and maxima, and all of `bf16` need sm_80. On the host the results are the same.
        ///
        /// ```
        /// use ptx::f16;
        /// use ptx::float::HalfArithmetic;
        ///
        /// let third = f16::from_f32(1.0 / 3.0);
        /// assert_eq!(third.fma_rn(f16::from_f32(3.0), f16::NEG_ONE).to_f32(), -0.000_244_140_62);
        /// ```
        pub trait HalfArithmetic: Copy + super::sealed::Sealed {
            $(
                #[doc = concat!("`", stringify!($op), "`")]
                #[must_use]
                fn $method(self $(, $operand: Self)*) -> Self;
            )*

            /// CUDA's `hsqrt`: `sqrt.approx.ftz.f32`, rounded.
            #[must_use]
            fn sqrt_approx(self) -> Self;

            /// CUDA's `hrsqrt`: `rsqrt.approx.ftz.f32`, rounded.
            #[must_use]
            fn rsqrt_approx(self) -> Self;

            /// CUDA's `hrcp`: `rcp.approx.ftz.f32`, rounded.
            #[must_use]
            fn rcp_approx(self) -> Self;

            /// CUDA's `htanh_approx`: `f16` from sm_75, `bf16` from sm_90.
            #[must_use]
            fn tanh_approx(self) -> Self;
        }

        arithmetic!(@implement f16, Half, "__ptx_tanh.approx.f16", to_f16_rn, $($method, $op, $form, [$($operand),*], $half;)*);
        arithmetic!(@implement bf16, Brain, "__ptx_tanh.approx.bf16", to_bf16_rn, $($method, $op, $form, [$($operand),*], $brain;)*);
    };
    (@implement $ty:ident, $bits:ident, $tanh:literal, $round:ident,
     $($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $symbol:literal;)*) => {
        impl HalfArithmetic for $ty {
            $(
                #[inline(always)]
                fn $method(self $(, $operand: Self)*) -> Self {
                    let a = self.to_bits();
                    $(let $operand = $operand.to_bits();)*
                    Self::from_bits(instruction!(
                        $symbol, (a: u16 $(, $operand: u16)*) -> u16,
                        Form::$form.result(host::$op($bits(a) $(, $bits($operand))*)).0
                    ))
                }
            )*

            #[inline(always)]
            fn sqrt_approx(self) -> Self {
                let x = self.widen();
                instruction!("__ptx_sqrt.approx.ftz.f32", (x: f32) -> f32, x.sqrt_approx()).$round()
            }

            #[inline(always)]
            fn rsqrt_approx(self) -> Self {
                let x = self.widen();
                instruction!("__ptx_rsqrt.approx.ftz.f32", (x: f32) -> f32, x.rsqrt_approx()).$round()
            }

            #[inline(always)]
            fn rcp_approx(self) -> Self {
                let x = self.widen();
                instruction!("__ptx_rcp.approx.ftz.f32", (x: f32) -> f32, x.rcp_approx()).$round()
            }

            #[inline(always)]
            fn tanh_approx(self) -> Self {
                let a = self.to_bits();
                Self::from_bits(instruction!($tanh, (a: u16) -> u16, {
                    Self::from_bits(a).widen().tanh_approx().$round().to_bits()
                }))
            }
        }
    };
}
half_operations!(arithmetic);

macro_rules! forms {
    ($($method:ident, $op:ident, $form:ident, [$($operand:ident),*], $symbol:literal, $packed:literal;)*) => {
        /// Forms of [`HalfArithmetic`]'s operations that only `f16` has. `ftz`: subnormal operands, and results (judged
        /// after rounding to 11 bits), are zeros of the same sign. `sat`: clamped to 0.0 to 1.0; NaN becomes 0.0.
        pub trait HalfForms: HalfArithmetic {
            $(
                #[doc = concat!("`", stringify!($op), "`")]
                #[must_use]
                fn $method(self $(, $operand: Self)*) -> Self;
            )*

            /// PTX `ex2.approx.f16`; from sm_75.
            #[must_use]
            fn exp2_approx(self) -> Self;
        }

        impl HalfForms for f16 {
            $(
                #[inline(always)]
                fn $method(self $(, $operand: Self)*) -> Self {
                    let a = self.to_bits();
                    $(let $operand = $operand.to_bits();)*
                    Self::from_bits(instruction!($symbol, (a: u16 $(, $operand: u16)*) -> u16, {
                        let form = Form::$form;
                        form.apply(exact::$op(form.operand(Half(a)) $(, form.operand(Half($operand)))*, Round::Nearest), || {
                            exact::$op(exact::wide(form.operand(Half(a))) $(, exact::wide(form.operand(Half($operand))))*, Round::Nearest)
                        })
                        .0
                    }))
                }
            )*

            #[inline(always)]
            fn exp2_approx(self) -> Self {
                let a = self.to_bits();
                Self::from_bits(instruction!("__ptx_ex2.approx.f16", (a: u16) -> u16, {
                    Self::from_bits(a).widen().exp2_approx().to_f16_rn().to_bits()
                }))
            }
        }
    };
}
half_forms!(forms);

/// The host's version of the instructions: operations by name, rounded to nearest.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) mod host {
    use super::{Round, exact};
    use crate::float::exact::{Format, Value};

    macro_rules! nearest {
        ($($op:ident($($operand:ident),*);)*) => {$(
            pub fn $op<T: Format>($($operand: T),*) -> T {
                exact::$op($($operand,)* Round::Nearest)
            }
        )*};
    }
    nearest! {
        add(a, b);
        sub(a, b);
        mul(a, b);
        fma(a, b, c);
    }

    fn sign<T: Format>() -> u64 {
        1 << (T::FRACTION + T::EXPONENT)
    }

    pub fn abs<T: Format>(a: T) -> T {
        T::of(a.bits() & !sign::<T>())
    }

    pub fn neg<T: Format>(a: T) -> T {
        T::of(a.bits() ^ sign::<T>())
    }

    /// A key in order of the values, with minus zero first.
    fn key<T: Format>(a: T) -> i64 {
        let magnitude = abs(a).bits().cast_signed();
        if a.bits() & sign::<T>() != 0 { -1 - magnitude } else { magnitude }
    }

    fn is_nan<T: Format>(a: T) -> bool {
        matches!(exact::value(a), Value::Nan)
    }

    pub fn min<T: Format>(a: T, b: T) -> T {
        match (is_nan(a), is_nan(b)) {
            (true, true) => exact::nan(),
            (true, false) => b,
            (false, true) => a,
            _ if key(b) < key(a) => b,
            _ => a,
        }
    }

    pub fn max<T: Format>(a: T, b: T) -> T {
        match (is_nan(a), is_nan(b)) {
            (true, true) => exact::nan(),
            (true, false) => b,
            (false, true) => a,
            _ if key(b) > key(a) => b,
            _ => a,
        }
    }

    pub fn min_nan<T: Format>(a: T, b: T) -> T {
        if is_nan(a) || is_nan(b) { exact::nan() } else { min(a, b) }
    }

    pub fn max_nan<T: Format>(a: T, b: T) -> T {
        if is_nan(a) || is_nan(b) { exact::nan() } else { max(a, b) }
    }
}

macro_rules! to_half {
    ($($method:ident, $to:ident, $round:ident, $f32:literal, $f64:literal, $i32:literal, $u32:literal, $i64:literal, $u64:literal;)*) => {
        /// Conversions to 16 bits, rounded once. Every GPU has those to `f16`. Those to `bf16` need sm_80 from `f32` to
        /// nearest or towards zero, and sm_90 otherwise.
        pub trait ToHalf: Copy + super::sealed::Sealed {
            $(
                /// `cvt`
                #[must_use]
                fn $method(self) -> $to;
            )*
        }

        to_half!(@implement f32, convert, $($method, $to, $round, $f32;)*);
        to_half!(@implement f64, convert, $($method, $to, $round, $f64;)*);
        to_half!(@implement i32, integer, $($method, $to, $round, $i32;)*);
        to_half!(@implement u32, integer, $($method, $to, $round, $u32;)*);
        to_half!(@implement i64, integer, $($method, $to, $round, $i64;)*);
        to_half!(@implement u64, integer, $($method, $to, $round, $u64;)*);
    };
    (@implement $from:ident, $kind:ident, $($method:ident, $to:ident, $round:ident, $symbol:literal;)*) => {
        impl ToHalf for $from {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    $to::from_bits(instruction!(
                        $symbol, (self: $from) -> u16, to_half!(@$kind self, to_half!(@bits $to), Round::$round).0
                    ))
                }
            )*
        }
    };
    (@bits f16) => { Half };
    (@bits bf16) => { Brain };
    (@convert $value:expr, $to:ty, $round:expr) => { exact::convert::<_, $to>($value, $round) };
    (@integer $value:expr, $to:ty, $round:expr) => { exact::from_integer::<$to>($value.into(), $round) };
}
to_half_conversions!(to_half);

macro_rules! converted {
    ($($method:ident, $to:ident, $round:ident, $form:ident, $symbol:literal;)*) => {
        /// Further forms of the conversions of `f32`. `sat`: the result is clamped to 0.0 to 1.0, and NaN becomes 0.0.
        /// `relu`: a negative result is zero. `satfinite`: what is beyond the largest number becomes that number.
        /// `relu`, `satfinite` and `bf16` need sm_80. There is no `ftz`: PTX takes it, but the GPU does not flush here.
        pub trait ToHalfForms: ToHalf {
            $(
                /// `cvt`
                #[must_use]
                fn $method(self) -> $to;
            )*
        }

        impl ToHalfForms for f32 {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    $to::from_bits(instruction!($symbol, (self: f32) -> u16, {
                        let form = Form::$form;
                        form.result(exact::convert::<_, to_half!(@bits $to)>(self, Round::$round)).0
                    }))
                }
            )*
        }
    };
}
to_half_forms!(converted);

/// Exact conversions from 16 bits, by one instruction each; half's own conversions take many on the GPU.
pub trait Widen: Copy + super::sealed::Sealed {
    /// The same number as `f32`.
    #[must_use]
    fn widen(self) -> f32;
}

impl Widen for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        let bits = self.to_bits();
        instruction!("__ptx_cvt.f32.f16", (bits: u16) -> f32, exact::convert(Half(bits), Round::Nearest))
    }
}

impl Widen for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

macro_rules! to_integer {
    ($($method:ident, $to:ident, $round:ident, $symbol:literal;)*) => {
        impl ToInteger for f16 {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    let bits = self.to_bits();
                    instruction!($symbol, (bits: u16) -> $to, f16::from_bits(bits).widen().$method())
                }
            )*
        }

        /// By way of `f32`, which loses nothing: GPUs before sm_90 have no such instruction.
        impl ToInteger for bf16 {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    self.widen().$method()
                }
            )*
        }
    };
}
half_to_integer_conversions!(to_integer);

macro_rules! to_integral {
    ($($method:ident, $round:ident, $symbol:literal;)*) => {
        impl ToIntegral for f16 {
            $(
                #[inline(always)]
                fn $method(self) -> Self {
                    let bits = self.to_bits();
                    Self::from_bits(instruction!(
                        $symbol, (bits: u16) -> u16, exact::integral(Half(bits), Round::$round).0
                    ))
                }
            )*
        }

        /// By way of `f32`, which loses nothing: GPUs before sm_90 have no such instruction.
        impl ToIntegral for bf16 {
            $(
                #[inline(always)]
                fn $method(self) -> Self {
                    // A whole number of at most eight bits, or one that was whole: nothing to round.
                    Self::from_bits((self.widen().$method().to_bits() >> 16) as u16)
                }
            )*
        }
    };
}
half_to_integral_conversions!(to_integral);

//! Conversions with the rounding named: one `cvt` instruction each, which no mode changes.
//!
//! Beyond an integer's range the result is its nearest value. NaN becomes 0 if neither side has 64 bits, else the
//! integer with only the highest bit set (PTX ISA, "cvt"). For bit patterns use std's `to_bits` and `from_bits`.

#[cfg(not(target_arch = "nvptx64"))]
use super::exact::{self, Form, Round};
use crate::{
    to_float_conversions, to_integer_conversions, to_integer_flushing_conversions, to_integral_conversions,
    to_single_conversions,
};

/// The host's version of a conversion to an integer.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! host_to_integer {
    ($value:expr, $from:ty, $to:ty, $round:ident) => {{
        let nan: $to = if size_of::<$from>() == 4 && size_of::<$to>() == 4 { 0 } else { 1 << (<$to>::BITS - 1) };
        match exact::to_integer($value, Round::$round, i128::from(<$to>::MIN), i128::from(<$to>::MAX)) {
            Some(integer) => <$to>::try_from(integer).unwrap_or(nan),
            None => nan,
        }
    }};
}

macro_rules! to_integer {
    ($($method:ident, $to:ident, $round:ident, $cuda32:literal, $cuda64:literal, $symbol32:literal, $symbol64:literal;)*) => {
        /// Conversions to an integer with the rounding that the name says: PTX `cvt.rni`, `.rzi`, `.rpi`, `.rmi`.
        ///
        /// ```
        /// use ptx::float::ToInteger;
        ///
        /// assert_eq!((2.5_f32.to_i32_rn(), (-2.5_f64).to_i64_rd(), 1e20_f32.to_u32_rz()), (2, -3, u32::MAX));
        /// ```
        pub trait ToInteger: Copy + super::sealed::Sealed {
            $(
                #[doc = concat!("CUDA's `", $cuda32, "`, `", $cuda64, "`.")]
                #[must_use]
                fn $method(self) -> $to;
            )*
        }

        impl ToInteger for f32 {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    instruction!($symbol32, (self: f32) -> $to, host_to_integer!(self, f32, $to, $round))
                }
            )*
        }

        impl ToInteger for f64 {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    instruction!($symbol64, (self: f64) -> $to, host_to_integer!(self, f64, $to, $round))
                }
            )*
        }
    };
}
to_integer_conversions!(to_integer);

macro_rules! to_integer_flushing {
    ($($method:ident, $to:ident, $round:ident, $ptx:literal, $symbol:literal;)*) => {
        /// Conversions to an integer that take subnormal numbers for zeros: PTX `cvt` with `.ftz`.
        pub trait FlushingToInteger: ToInteger {
            $(
                #[doc = concat!("PTX `", $ptx, "`.")]
                #[must_use]
                fn $method(self) -> $to;
            )*
        }

        impl FlushingToInteger for f32 {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    instruction!(
                        $symbol, (self: f32) -> $to, host_to_integer!(Form::FLUSH.operand(self), f32, $to, $round)
                    )
                }
            )*
        }
    };
}
to_integer_flushing_conversions!(to_integer_flushing);

macro_rules! to_float {
    ($($method:ident, $to:ident, $round:ident, $ptx:literal, $i32:literal, $u32:literal, $i64:literal, $u64:literal;)*) => {
        /// Conversions from an integer with the rounding that the name says: PTX `cvt.rn`, `.rz`, `.rp`, `.rm`.
        ///
        /// ```
        /// use ptx::float::ToFloat;
        ///
        /// assert_eq!((16_777_217_i32.to_f32_rz(), 16_777_217_i32.to_f32_ru()), (16_777_216.0, 16_777_218.0));
        /// ```
        pub trait ToFloat: Copy + super::sealed::Sealed {
            $(
                #[doc = concat!("PTX `", $ptx, "` from the integer's type.")]
                #[must_use]
                fn $method(self) -> $to;
            )*
        }

        to_float!(@implement i32, $($method, $to, $round, $i32;)*);
        to_float!(@implement u32, $($method, $to, $round, $u32;)*);
        to_float!(@implement i64, $($method, $to, $round, $i64;)*);
        to_float!(@implement u64, $($method, $to, $round, $u64;)*);
    };
    (@implement $from:ident, $($method:ident, $to:ident, $round:ident, $symbol:literal;)*) => {
        impl ToFloat for $from {
            $(
                #[inline(always)]
                fn $method(self) -> $to {
                    instruction!($symbol, (self: $from) -> $to, exact::from_integer(self.into(), Round::$round))
                }
            )*
        }
    };
}
to_float_conversions!(to_float);

macro_rules! to_single {
    ($($method:ident, $round:ident, $form:ident, $ptx:literal, $symbol:literal;)*) => {
        /// Conversions from `f64` to `f32`. `ftz`: a subnormal result is zero. `sat`: the result is clamped to 0.0 to
        /// 1.0, and NaN becomes 0.0.
        ///
        /// ```
        /// use ptx::float::ToSingle;
        ///
        /// assert_eq!(0.1_f64.to_f32_ru(), 0.1_f64.to_f32_rd().next_up());
        /// ```
        pub trait ToSingle: Copy + super::sealed::Sealed {
            $(
                #[doc = concat!("PTX `", $ptx, "`.")]
                #[must_use]
                fn $method(self) -> f32;
            )*
        }

        impl ToSingle for f64 {
            $(
                #[inline(always)]
                fn $method(self) -> f32 {
                    instruction!(
                        $symbol, (self: f64) -> f32, Form::$form.result(exact::convert(self, Round::$round))
                    )
                }
            )*
        }
    };
}
to_single_conversions!(to_single);

macro_rules! to_integral {
    ($($method:ident, $round:ident, $symbol32:literal, $symbol64:literal;)*) => {
        /// Rounding to a whole number of the same type; a result of zero keeps the sign.
        pub trait ToIntegral: Copy + super::sealed::Sealed {
            $(
                /// The instruction `cvt` to the same type.
                #[must_use]
                fn $method(self) -> Self;
            )*
        }

        impl ToIntegral for f32 {
            $(
                #[inline(always)]
                fn $method(self) -> f32 {
                    instruction!($symbol32, (self: f32) -> f32, exact::integral(self, Round::$round))
                }
            )*
        }

        impl ToIntegral for f64 {
            $(
                #[inline(always)]
                fn $method(self) -> f64 {
                    instruction!($symbol64, (self: f64) -> f64, exact::integral(self, Round::$round))
                }
            )*
        }
    };
}
to_integral_conversions!(to_integral);

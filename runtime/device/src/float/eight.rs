//! 8-bit floats, CUDA's `__nv_fp8_e4m3` and `__nv_fp8_e5m2`, and pairs of them. GPUs convert them from sm_89 on.
//!
//! Conversions to them round to nearest with ties to even. Numbers beyond the largest, and infinity, become the largest
//! number.

use half::f16;
use ptx_abi::abi_by_value;
use ptx_abi::cxx::{Cxx, Name};

#[cfg(not(target_arch = "nvptx64"))]
use super::exact::{self, Half, Number, Round, Value};
use super::half::Widen as _;
use super::packed::F16x2;

macro_rules! eight {
    ($($(#[$doc:meta])* $name:ident $pair:ident, $cuda:literal $cuda2:literal, $host:ident,
       $narrow:literal $relu:literal $narrow2:literal $widen:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(
            /// The bits of the number.
            pub u8,
        );

        #[doc = concat!("Two [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $pair(
            /// The lanes' bits, lane 0 lowest.
            pub u16,
        );

        impl $name {
            /// Rounded.
            #[inline(always)]
            #[must_use]
            pub fn from_f32(value: f32) -> Self {
                $pair::from_f32(value, 0.0).low()
            }

            /// Rounded; a negative number becomes zero.
            #[inline(always)]
            #[must_use]
            pub fn from_f32_relu(value: f32) -> Self {
                $pair::from_f32_relu(value, 0.0).low()
            }

            /// Rounded.
            #[inline(always)]
            #[must_use]
            pub fn from_f16(value: f16) -> Self {
                $pair::from_f16x2(F16x2::new(value, f16::ZERO)).low()
            }

            /// Exactly.
            #[inline(always)]
            #[must_use]
            pub fn to_f16(self) -> f16 {
                $pair::new(self, Self(0)).to_f16x2().low()
            }

            /// Exactly.
            #[inline(always)]
            #[must_use]
            pub fn to_f32(self) -> f32 {
                self.to_f16().widen()
            }
        }

        impl $pair {
            /// Of these lanes, the lower first.
            #[inline(always)]
            #[must_use]
            pub const fn new(low: $name, high: $name) -> Self {
                Self(low.0 as u16 | (high.0 as u16) << 8)
            }

            /// Lane 0.
            #[inline(always)]
            #[must_use]
            pub const fn low(self) -> $name {
                $name((self.0 & 0xff) as u8)
            }

            /// Lane 1.
            #[inline(always)]
            #[must_use]
            pub const fn high(self) -> $name {
                $name((self.0 >> 8) as u8)
            }

            /// Rounded.
            #[inline(always)]
            #[must_use]
            pub fn from_f32(low: f32, high: f32) -> Self {
                Self(instruction!($narrow, (high: f32, low: f32) -> u16, $host::pair(low, high)))
            }

            /// Rounded; negative numbers become zero.
            #[inline(always)]
            #[must_use]
            pub fn from_f32_relu(low: f32, high: f32) -> Self {
                Self(instruction!($relu, (high: f32, low: f32) -> u16, $host::pair(relu(low), relu(high))))
            }

            /// Rounded.
            #[inline(always)]
            #[must_use]
            pub fn from_f16x2(values: F16x2) -> Self {
                let bits = values.0;
                Self(instruction!(
                    $narrow2, (bits: u32) -> u16,
                    { let lanes = F16x2(bits); $host::pair(lanes.low().widen(), lanes.high().widen()) }
                ))
            }

            /// Exactly.
            #[inline(always)]
            #[must_use]
            pub fn to_f16x2(self) -> F16x2 {
                let bits = self.0;
                F16x2(instruction!(
                    $widen, (bits: u16) -> u32,
                    { let pair = Self(bits); F16x2::new($host::widen(pair.low().0), $host::widen(pair.high().0)).0 }
                ))
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.to_f32()).finish()
            }
        }

        impl core::fmt::Debug for $pair {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let [low, high] = [self.low(), self.high()].map($name::to_f32);
                f.debug_tuple(stringify!($pair)).field(&low).field(&high).finish()
            }
        }

        eight!(@crosses $name, $cuda);
        eight!(@crosses $pair, $cuda2);
    )*};
    (@crosses $ty:ident, $cuda:literal) => {
        // Structs of a byte or two in cuda_fp8.h.
        abi_by_value!($ty, Aggregate, Cxx::Named(Name::cuda($cuda, "cuda_fp8.h")), diagnostic::do_not_recommend);

        #[diagnostic::do_not_recommend]
        // SAFETY: bits that are all numbers.
        unsafe impl ptx_abi::bits::Plain for $ty {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: the layout is the device's.
        unsafe impl cudarc::driver::DeviceRepr for $ty {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: zero is a number.
        unsafe impl cudarc::driver::ValidAsZeroBits for $ty {}
    };
}

eight! {
    /// An 8-bit float: a sign, 4 bits of exponent, 3 of fraction. It goes up to 448 and has no infinities.
    F8E4M3 F8E4M3x2, "__nv_fp8_e4m3" "__nv_fp8x2_e4m3", e4m3,
        "__ptx_cvt.rn.satfinite.e4m3x2.f32" "__ptx_cvt.rn.satfinite.relu.e4m3x2.f32"
        "__ptx_cvt.rn.satfinite.e4m3x2.f16x2" "__ptx_cvt.rn.f16x2.e4m3x2";
    /// An 8-bit float: a sign, 5 bits of exponent, 2 of fraction, as the upper byte of an `f16`. It goes up to 57344.
    F8E5M2 F8E5M2x2, "__nv_fp8_e5m2" "__nv_fp8x2_e5m2", e5m2,
        "__ptx_cvt.rn.satfinite.e5m2x2.f32" "__ptx_cvt.rn.satfinite.relu.e5m2x2.f32"
        "__ptx_cvt.rn.satfinite.e5m2x2.f16x2" "__ptx_cvt.rn.f16x2.e5m2x2";
}

/// NaN stays.
#[cfg(not(target_arch = "nvptx64"))]
fn relu(value: f32) -> f32 {
    if value <= 0.0 { 0.0 } else { value }
}

/// The host's version of the conversions: a format with `fraction` bits, of which the lowest is worth `2^lowest`.
#[cfg(not(target_arch = "nvptx64"))]
fn narrow(value: f32, fraction: i32, lowest: i32, largest: u8, nan: u8) -> u8 {
    let number = match exact::value(value) {
        Value::Nan => return nan,
        Value::Infinite(negative) => return u8::from(negative) << 7 | largest,
        Value::Finite(number) => number,
    };
    let sign = u8::from(number.negative) << 7;
    if number.mantissa == 0 {
        return sign;
    }
    let top = number.exponent + 127 - number.mantissa.leading_zeros().cast_signed();
    let last = (top - fraction).max(lowest);
    let kept = exact::round_mantissa(number, last - number.exponent, Round::Nearest);
    let bits = kept + (u128::from((last - lowest).unsigned_abs()) << fraction);
    sign | u8::try_from(bits).unwrap_or(largest).min(largest)
}

#[cfg(not(target_arch = "nvptx64"))]
mod e4m3 {
    use super::{Half, Number, Round, exact, f16, narrow};

    pub fn pair(low: f32, high: f32) -> u16 {
        u16::from_le_bytes([low, high].map(|value| narrow(value, 3, -9, 0x7e, 0x7f)))
    }

    pub fn widen(bits: u8) -> f16 {
        let (negative, exponent, fraction) = (bits >> 7 != 0, i32::from(bits >> 3 & 0xf), u128::from(bits & 7));
        let (exponent, mantissa) = match exponent {
            0 => (-9, fraction),
            15 if fraction == 7 => return f16::from_bits(0x7fff),
            _ => (exponent - 10, fraction | 8),
        };
        let number = Number { negative, exponent, mantissa, inexact: false };
        f16::from_bits(exact::round::<Half>(number, Round::Nearest).0)
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod e5m2 {
    use super::{f16, narrow};

    pub fn pair(low: f32, high: f32) -> u16 {
        u16::from_le_bytes([low, high].map(|value| narrow(value, 2, -16, 0x7b, 0x7f)))
    }

    pub fn widen(bits: u8) -> f16 {
        // NaN is one on GPUs.
        if bits & 0x7f > 0x7c { f16::from_bits(0x7fff) } else { f16::from_bits(u16::from(bits) << 8) }
    }
}

//! The formats that can be compared, and whole units in the last place.

use std::fmt::{Debug, Display};

/// A binary floating-point format of IEEE 754's kind: `f32`, `f64`, and with the feature `half` also `f16` and `bf16`.
pub trait Float: Copy + PartialEq + Debug + Display + private::Sealed + 'static {
    /// Bits of the significand, including the hidden bit.
    const PRECISION: i32;

    /// The smallest normal number is 2 to the power of this exponent.
    const MIN_EXPONENT: i32;

    /// The number of hexadecimal digits of an encoding.
    #[doc(hidden)]
    const HEX_DIGITS: usize;

    /// The bits that encode the number.
    fn bits(self) -> u64;

    /// The same number as `f64`, which holds every number of these formats.
    fn to_f64(self) -> f64;

    /// The nearest number of the format, ties to even; infinity from halfway beyond the largest.
    fn from_f64(value: f64) -> Self;

    /// The number's place in the order of all numbers: neighbours differ by 1, both zeros are 0, and infinity is the
    /// neighbour of the largest. `None` for NaN.
    fn ordinal(self) -> Option<i64>;

    /// The encoding in hexadecimal, such as `0x3f800000`.
    fn hex(self) -> String {
        format!("0x{:0width$x}", self.bits(), width = Self::HEX_DIGITS)
    }
}

mod private {
    pub trait Sealed {}
}

macro_rules! float {
    ($ty:ty, $precision:expr, $min_exponent:expr, |$value:ident| $to:expr, $from:expr) => {
        impl private::Sealed for $ty {}

        impl Float for $ty {
            const PRECISION: i32 = $precision;
            const MIN_EXPONENT: i32 = $min_exponent;
            const HEX_DIGITS: usize = 2 * size_of::<$ty>();

            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            fn to_f64(self) -> f64 {
                let $value = self;
                $to
            }

            fn from_f64(value: f64) -> Self {
                $from(value)
            }

            fn ordinal(self) -> Option<i64> {
                let width = 8 * size_of::<$ty>() as u32;
                let magnitude = (self.bits() & !(1 << (width - 1))) as i64;
                (!self.is_nan()).then_some(if self.is_sign_negative() { -magnitude } else { magnitude })
            }
        }
    };
}

float!(f32, 24, -126, |value| value.into(), |value| value as f32);
float!(f64, 53, -1022, |value| value, |value| value);
#[cfg(feature = "half")]
float!(half::f16, 11, -14, |value| value.to_f64(), |value| half::f16::from_f32(nearest(value, 11, -14)));
#[cfg(feature = "half")]
float!(half::bf16, 8, -126, |value| value.to_f64(), |value| half::bf16::from_f32(nearest(value, 8, -126)));

/// The exponent of a finite number: 2 to its power is at most the number. For zero it is that of the smallest number.
pub(super) fn exponent(value: f64) -> i32 {
    let biased = (value.to_bits() >> 52 & 0x7ff) as i32;
    if biased != 0 { biased - 1023 } else { -1011 - (value.to_bits() << 12).leading_zeros() as i32 - 12 }
}

/// 2 to the power of `exponent`, for normal numbers.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The nearest number with that many bits and that least exponent, ties to even, before overflow is checked.
#[cfg(feature = "half")]
fn nearest(value: f64, precision: i32, min_exponent: i32) -> f32 {
    if !value.is_finite() || value == 0.0 {
        return value as f32;
    }
    let unit = exponent(value).max(min_exponent) - (precision - 1);
    ((value * power_of_two(-unit)).round_ties_even() * power_of_two(unit)) as f32
}

/// The distance between two numbers in steps from one number to its neighbour, that is, in whole units in the last
/// place (ULP). It is 0 for equal numbers, including both zeros, and for two NaNs, whatever their bits. It is
/// `u64::MAX` if only one of them is NaN.
///
/// From the largest finite number to infinity is one step. Through zero, the steps of both sides are added.
///
/// ```
/// use ptx_host::compare::ulp_distance;
///
/// assert_eq!(ulp_distance(1.0_f32, 1.0 + f32::EPSILON), 1);
/// assert_eq!(ulp_distance(0.0_f64, -0.0), 0);
/// assert_eq!(ulp_distance(f64::MAX, f64::INFINITY), 1);
/// assert_eq!(ulp_distance(f32::NAN, -f32::NAN), 0);
/// assert_eq!(ulp_distance(f32::NAN, 1.0), u64::MAX);
/// ```
#[must_use]
pub fn ulp_distance<T: Float>(a: T, b: T) -> u64 {
    match (a.ordinal(), b.ordinal()) {
        (Some(a), Some(b)) => a.abs_diff(b),
        (None, None) => 0,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_step_apart() {
        for value in [0.0_f32, 1.0, 1.999_999_9, f32::MIN_POSITIVE, f32::MAX, 1e-45, 123.456] {
            assert_eq!(ulp_distance(value, value.next_up()), 1, "{value}");
            assert_eq!(ulp_distance(-value, (-value).next_down()), 1, "{value}");
        }
        for value in [0.0_f64, 1.0, f64::MIN_POSITIVE, f64::MAX, 5e-324] {
            assert_eq!(ulp_distance(value.next_up(), value), 1, "{value}");
        }
    }

    #[test]
    fn distances_add_up_through_zero_and_to_the_ends() {
        assert_eq!(ulp_distance(1e-45_f32, -1e-45), 2);
        assert_eq!(ulp_distance(f32::NEG_INFINITY, f32::INFINITY), 2 * 0x7f80_0000);
        assert_eq!(ulp_distance(f64::NEG_INFINITY, f64::INFINITY), 2 * 0x7ff0_0000_0000_0000);
        assert_eq!(ulp_distance(f64::INFINITY, f64::INFINITY), 0);
    }

    #[cfg(feature = "half")]
    #[test]
    fn half_precision_rounds_once() {
        use half::{bf16, f16};
        // Between 1 and its successor, above halfway by less than f32 can tell.
        let above = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
        assert_eq!(<f16 as Float>::from_f64(above).bits(), 0x3c01);
        assert_eq!(<f16 as Float>::from_f64(1.0 + 2_f64.powi(-11)).bits(), 0x3c00);
        assert_eq!(<f16 as Float>::from_f64(65519.999).bits(), 0x7bff);
        assert_eq!(<f16 as Float>::from_f64(65520.0).bits(), 0x7c00);
        assert_eq!(<bf16 as Float>::from_f64(1.0 + 2_f64.powi(-8) + 2_f64.powi(-50)).bits(), 0x3f81);
        assert_eq!(ulp_distance(f16::MAX, f16::INFINITY), 1);
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            assert!(value.is_nan() || <f16 as Float>::from_f64(Float::to_f64(value)).bits() == value.bits());
            let value = bf16::from_bits(bits);
            assert!(value.is_nan() || <bf16 as Float>::from_f64(Float::to_f64(value)).bits() == value.bits());
        }
    }
}

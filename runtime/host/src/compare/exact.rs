//! References of more than the result's precision, and fractions of a unit in the last place.

use super::float::{Float, exponent, power_of_two};

/// A reference with about twice the precision of `f64`: the sum of two numbers.
///
/// A result that is computed in higher precision becomes one of these, so that the error of an `f64` can be measured in
/// fractions of a unit in the last place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The nearest `f64`.
    pub high: f64,
    /// The rest, at most half a unit in the last place of `high`.
    pub low: f64,
}

impl From<f64> for Exact {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl From<f32> for Exact {
    fn from(value: f32) -> Self {
        f64::from(value).into()
    }
}

impl Exact {
    /// The nearest number of the format, ties to even: what a correctly rounded function returns.
    #[must_use]
    pub fn round<T: Float>(self) -> T {
        if T::PRECISION == 53 {
            // A sum beyond the largest number has that one and the rest. Elsewhere `high` is the nearest, and adding `low`, which
            // is rounded itself, can make a tie of what is none.
            let is_largest = self.high.abs() == f64::MAX;
            return T::from_f64(if is_largest { self.high + self.low } else { self.high });
        }
        T::from_f64(self.to_odd())
    }

    /// An `f64` that rounds as the sum does to every format of at most 51 bits: the sum cut off, its last bit set where
    /// something was cut off ("round to odd").
    fn to_odd(self) -> f64 {
        if self.low == 0.0 || !self.high.is_finite() || self.high == 0.0 {
            return self.high;
        }
        let grows = (self.low > 0.0) == (self.high > 0.0);
        let cut = if grows { self.high.to_bits() } else { self.high.to_bits() - 1 };
        f64::from_bits(cut | 1)
    }
}

/// How far a number is from the exact result, in units in the last place of the exact result. A correctly rounded
/// number is at most 0.5 off.
///
/// The unit is the distance between the two numbers of the format that enclose the exact result; for subnormal numbers
/// it is the distance between any two neighbours. An infinite result, and an exact result beyond the largest number,
/// count as the number that would follow the largest. So a result that overflows a little too early or too late has a
/// small error. Two NaNs, and equal infinities, are 0 apart. A NaN and a number, or a finite number and an infinite
/// reference, are infinitely far apart.
///
/// ```
/// use ptx_host::compare::ulp_error;
///
/// // A third is not a number of either format.
/// let third = ulp_error(1.0_f32 / 3.0, 1.0 / 3.0);
/// assert!((0.33..0.34).contains(&third), "{third}");
/// assert_eq!(ulp_error(1.0_f32, 1.0 + 1.5 * f64::from(f32::EPSILON)), 1.5);
/// ```
#[must_use]
pub fn ulp_error<T: Float>(actual: T, exact: impl Into<Exact>) -> f64 {
    let Exact { high, low } = exact.into();
    let value = actual.to_f64();
    match (value.is_nan(), high.is_nan()) {
        (true, true) => return 0.0,
        (false, false) => {}
        _ => return f64::INFINITY,
    }
    if high.is_infinite() {
        return if value == high { 0.0 } else { f64::INFINITY };
    }
    // The number after the largest of f64 is none of f64; a quarter of everything is, and exact where numbers are large.
    let scale = if high.abs() > 1.0 || value.is_infinite() { 0.25 } else { 1.0 };
    let max_exponent = 1 - T::MIN_EXPONENT;
    let value = if value.is_infinite() { power_of_two(max_exponent - 1).copysign(value) } else { value * scale };
    let unit = exponent(high).clamp(T::MIN_EXPONENT, max_exponent) - (T::PRECISION - 1);
    let (mut high, mut low) = (high * scale, low * scale);
    // Whatever is beyond the number after the largest has infinity for its correctly rounded result.
    let after_largest = power_of_two(max_exponent - 1);
    // The difference is exact where it matters; the sum of the two parts would be rounded.
    if scale < 1.0 && high.abs() - after_largest + low * 1_f64.copysign(high) >= 0.0 {
        (high, low) = (after_largest.copysign(high), 0.0);
    }
    let difference = (value - high) - low;
    // The unit of subnormal numbers of f64 is no number that one may divide 1 by.
    (difference.abs() / scale) * power_of_two(-unit / 2) * power_of_two(-unit - (-unit / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_measured_in_the_units_of_the_exact_result() {
        // Below a power of two the unit is half as large.
        let below = 2.0 - f64::from(f32::EPSILON) / 4.0;
        assert_eq!(ulp_error(2.0_f32, below), 0.25);
        assert_eq!(ulp_error(2.0_f32, 2.0 + f64::from(f32::EPSILON)), 0.5);
        assert_eq!(ulp_error(-2.0_f32, 2.0), 2_f64.powi(24));
    }

    #[test]
    fn a_second_number_makes_fractions_of_f64() {
        for scale in [1.0, 2_f64.powi(-1000), 2_f64.powi(1000), 2_f64.powi(900)] {
            let exact = Exact { high: scale, low: scale * f64::EPSILON / 4.0 };
            assert_eq!(ulp_error(scale, exact), 0.25, "{scale}");
            assert_eq!(ulp_error(scale.next_up(), exact), 0.75, "{scale}");
        }
    }

    #[test]
    fn subnormal_numbers_share_a_unit() {
        assert_eq!(ulp_error(0.0_f32, 0.3 * 2_f64.powi(-149)), 0.3);
        assert_eq!(ulp_error(0.0_f32, 2_f64.powi(-149)), 1.0);
        assert_eq!(ulp_error(0.0_f64, 5e-324), 1.0);
        assert_eq!(ulp_error(5e-324_f64, 0.0), 1.0);
        assert_eq!(ulp_error(f64::MIN_POSITIVE, 0.0), 2_f64.powi(52));
        assert_eq!(ulp_error(f32::MIN_POSITIVE, 0.0), 2_f64.powi(23));
    }

    #[test]
    fn a_rest_of_nearly_half_a_unit_is_no_tie() {
        // The root of 1 - 2^-53 is 1 - 2^-54 - 2^-109 - …, whose rest has no room in an `f64`.
        let root = Exact { high: 1.0_f64.next_down(), low: 2_f64.powi(-54) };
        assert_eq!(root.round::<f64>(), 1.0_f64.next_down());
    }

    #[test]
    fn infinity_follows_the_largest_number() {
        let after_largest = 2_f64.powi(128);
        let unit = 2_f64.powi(104);
        assert_eq!(ulp_error(f32::INFINITY, after_largest - unit), 1.0);
        assert_eq!(ulp_error(f32::MAX, after_largest - unit / 2.0), 0.5);
        assert_eq!(ulp_error(f32::INFINITY, after_largest - unit / 4.0), 0.25);
        assert_eq!(ulp_error(f32::INFINITY, 1e200), 0.0);
        assert_eq!(ulp_error(f32::NEG_INFINITY, -after_largest), 0.0);
        assert_eq!(ulp_error(f32::MAX, 1e200), 1.0);
        assert_eq!(ulp_error(f64::INFINITY, f64::MAX), 1.0);
        assert_eq!(ulp_error(f64::MAX, Exact { high: f64::MAX, low: 2_f64.powi(969) }), 0.25);
        // An exact result beyond the largest number, as that number and the rest.
        let beyond = Exact { high: f64::MAX, low: 2_f64.powi(970) };
        assert_eq!((beyond.round::<f64>(), beyond.round::<f32>()), (f64::INFINITY, f32::INFINITY));
        assert_eq!((ulp_error(f64::MAX, beyond), ulp_error(f64::INFINITY, beyond)), (0.5, 0.5));
        assert_eq!(ulp_error(f64::INFINITY, Exact { high: f64::MAX, low: f64::MAX }), 0.0);
        assert_eq!(ulp_error(f64::INFINITY, f64::INFINITY), 0.0);
        assert_eq!(ulp_error(f64::MAX, f64::INFINITY), f64::INFINITY);
        assert_eq!(ulp_error(f64::NAN, f64::NAN), 0.0);
        assert_eq!(ulp_error(f64::NAN, 1.0), f64::INFINITY);
        assert_eq!(ulp_error(1.0_f32, f64::NAN), f64::INFINITY);
    }

    #[test]
    fn sums_round_once() {
        let half = f64::from(f32::EPSILON) / 2.0;
        let tie = 1.0 + half;
        assert_eq!(Exact::from(tie).round::<f32>(), 1.0);
        assert_eq!(Exact { high: tie, low: 1e-30 }.round::<f32>(), 1.0 + f32::EPSILON);
        assert_eq!(Exact { high: tie, low: -1e-30 }.round::<f32>(), 1.0);
        let odd_tie = 1.0 + 3.0 * half;
        assert_eq!(Exact::from(odd_tie).round::<f32>(), 1.0 + 2.0 * f32::EPSILON);
        assert_eq!(Exact { high: odd_tie, low: -1e-30 }.round::<f32>(), 1.0 + f32::EPSILON);
        assert_eq!(Exact { high: -odd_tie, low: 1e-30 }.round::<f32>(), -1.0 - f32::EPSILON);
        // Subnormal results round once as well.
        let tie = 2_f64.powi(-150);
        assert_eq!(Exact::from(tie).round::<f32>(), 0.0);
        assert_eq!(Exact { high: tie, low: 1e-80 }.round::<f32>(), 1e-45);
        assert_eq!(Exact { high: 0.1, low: 1e-20 }.round::<f64>(), 0.1);
    }
}

//! How far two numbers may be apart.

use std::fmt;

use super::float::{Float, ulp_distance};

/// How much two numbers may differ and still count as equal.
///
/// Whatever the tolerance, two NaNs are equal, and a NaN and a number are not. Equal infinities are equal. In units in
/// the last place infinity is next to the largest number; for relative and absolute differences it is infinitely far
/// from every number.
///
/// ```
/// use ptx_host::compare::Tolerance;
///
/// // A sum of a thousand numbers around 1 that may cancel:
/// let sums = Tolerance::relative(1e-5).or(Tolerance::absolute(1e-4));
/// assert!(sums.allows(3e-5_f32, 0.0) && sums.allows(1000.005, 1000.0) && !sums.allows(1.0, 2.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance(Rule);

#[derive(Clone, Debug, PartialEq)]
enum Rule {
    Bits,
    Ulps(u64),
    Relative(f64),
    Absolute(f64),
    Or(Box<[Rule; 2]>),
    And(Box<[Rule; 2]>),
}

impl Tolerance {
    /// The same bits, including the sign of zero; two NaNs may have different bits.
    #[must_use]
    pub const fn same_bits() -> Self {
        Self(Rule::Bits)
    }

    /// The same number: as [`Self::same_bits`], and both zeros are equal.
    #[must_use]
    pub const fn same_value() -> Self {
        Self(Rule::Ulps(0))
    }

    /// At most this many units in the last place, counted as by [`ulp_distance`].
    #[must_use]
    pub const fn ulps(ulps: u64) -> Self {
        Self(Rule::Ulps(ulps))
    }

    /// A difference of at most this part of the expected number's magnitude.
    #[must_use]
    pub const fn relative(part: f64) -> Self {
        Self(Rule::Relative(part))
    }

    /// A difference of at most this much.
    #[must_use]
    pub const fn absolute(difference: f64) -> Self {
        Self(Rule::Absolute(difference))
    }

    /// Allows what either of the two allows.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(Rule::Or(Box::new([self.0, other.0])))
    }

    /// Allows only what both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(Rule::And(Box::new([self.0, other.0])))
    }

    /// The number of units in the last place that it allows, if it was made by [`Self::ulps`] alone.
    #[must_use]
    pub const fn in_ulps(&self) -> Option<u64> {
        match self.0 {
            Rule::Ulps(ulps) => Some(ulps),
            _ => None,
        }
    }

    /// Whether `actual` is close enough to `expected`.
    #[must_use]
    pub fn allows<T: Float>(&self, actual: T, expected: T) -> bool {
        self.0.allows(actual, expected)
    }
}

impl Rule {
    fn allows<T: Float>(&self, actual: T, expected: T) -> bool {
        let (a, b) = (actual.to_f64(), expected.to_f64());
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        // The difference of two f64 may overflow, and is then more than every limit.
        let within = |limit: f64| a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= limit);
        match self {
            Self::Bits => actual.bits() == expected.bits(),
            Self::Ulps(ulps) => ulp_distance(actual, expected) <= *ulps,
            Self::Relative(part) => within(part * b.abs()),
            Self::Absolute(difference) => within(*difference),
            Self::Or(rules) => rules.iter().any(|rule| rule.allows(actual, expected)),
            Self::And(rules) => rules.iter().all(|rule| rule.allows(actual, expected)),
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits => write!(f, "the same bits"),
            Self::Ulps(0) => write!(f, "the same number"),
            Self::Ulps(ulps) => write!(f, "{ulps} ulp"),
            Self::Relative(part) => write!(f, "{part:e} of the expected number"),
            Self::Absolute(difference) => write!(f, "a difference of {difference:e}"),
            Self::Or(rules) => write!(f, "({} or {})", rules[0], rules[1]),
            Self::And(rules) => write!(f, "({} and {})", rules[0], rules[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_inclusive() {
        assert!(Tolerance::ulps(2).allows(1.0 + 2.0 * f32::EPSILON, 1.0));
        assert!(!Tolerance::ulps(2).allows(1.0 + 3.0 * f32::EPSILON, 1.0));
        assert!(Tolerance::relative(0.5).allows(3.0, 2.0) && !Tolerance::relative(0.5).allows(3.01, 2.0));
        assert!(Tolerance::absolute(1.0).allows(3.0, 2.0) && !Tolerance::absolute(1.0).allows(3.01, 2.0));
        assert!(!Tolerance::relative(0.1).allows(1e-30, 0.0));
    }

    #[test]
    fn zeros_infinities_and_nans() {
        let all = [Tolerance::same_bits(), Tolerance::ulps(1), Tolerance::relative(1.0), Tolerance::absolute(1e300)];
        for tolerance in &all {
            assert!(tolerance.allows(f64::NAN, f64::from_bits(0xfff8_0000_0000_1234)), "{tolerance}");
            assert!(!tolerance.allows(f64::NAN, 1.0) && !tolerance.allows(1.0, f64::NAN), "{tolerance}");
            assert!(tolerance.allows(f64::INFINITY, f64::INFINITY), "{tolerance}");
            assert!(!tolerance.allows(f64::NEG_INFINITY, f64::INFINITY), "{tolerance}");
            assert_eq!(tolerance.allows(0.0, -0.0), *tolerance != Tolerance::same_bits(), "{tolerance}");
        }
        assert!(Tolerance::ulps(1).allows(f64::INFINITY, f64::MAX));
        assert!(!Tolerance::relative(1.0).allows(f64::INFINITY, f64::MAX));
        assert!(!Tolerance::absolute(f64::MAX).allows(f64::MAX, -f64::MAX));
    }

    #[test]
    fn tolerances_combine_and_say_so() {
        let both = Tolerance::ulps(4).and(Tolerance::absolute(1e-6));
        assert!(both.allows(1.0_f32, 1.0) && !both.allows(1e9_f32, 1e9_f32.next_up()));
        let either = Tolerance::same_value().or(both);
        assert_eq!(either.to_string(), "(the same number or (4 ulp and a difference of 1e-6))");
        assert!(either.allows(1e9_f32, 1e9));
    }
}

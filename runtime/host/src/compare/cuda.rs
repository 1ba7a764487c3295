//! What CUDA documents of the accuracy of its functions, as data.
//!
//! Source: CUDA C++ Programming Guide, Release 13.0, chapter 17 "Mathematical Functions": tables 17 (single precision),
//! 18 (double precision) and 21 (intrinsic functions). NVIDIA's bounds come "from extensive but not exhaustive tests".
//! A bound is the distance to the correctly rounded result, in units in the last place of the result.

use std::fmt;

use super::Tolerance;

/// A function and its error bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// CUDA's name of the function, such as `sinf` or `__expf`.
    pub name: &'static str,
    /// The documented error bound.
    pub bound: Bound,
}

/// How a bound depends on the input.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bound {
    /// At most this many units in the last place, for all inputs.
    Ulps(u64),
    /// This many units for inputs outside the interval; inside it the error is "larger".
    UlpsOutside(u64, f64, f64),
    /// This many units for inputs of a magnitude less than the second number, and an absolute error for others.
    UlpsBelow(u64, f64, f64),
    /// `ceil(2 + 2.5 n)` for inputs of a magnitude less than the order n, and an absolute error for others; the last
    /// number.
    ///
    /// For the orders 0 and 1 as [`Self::UlpsBelow`]: the guide says nothing of its own of them, but its absolute error
    /// cannot hold near 0, where the functions grow until a unit in the last place is more. They are `y0` and `y1`,
    /// which have bounds.
    UlpsByOrder(u64, f64, f64),
    /// An absolute error for this order, and nothing for others.
    AbsoluteAtOrder(f64, f64),
    /// An absolute error, the last number, for inputs of more than 1.5 times the order. For the orders 0 and 1 as
    /// [`Self::UlpsBelow`], for the reason of [`Self::UlpsByOrder`].
    AbsoluteBeyondOrder(u64, f64, f64),
    /// This many units, and the integer part of the second number times the input's magnitude.
    UlpsGrowing(u64, f64),
    /// An absolute error, the third number, for inputs between the first two, and this many units in the last place for
    /// others.
    AbsoluteBetween(f64, f64, f64, u64),
    /// An absolute error for inputs up to a magnitude; for others it is "larger".
    AbsoluteWithin(f64, f64),
    /// An error relative to the exact result.
    Relative(f64),
    /// This many units if the last argument's magnitude is at most the given power of two, and at least its reciprocal.
    UlpsForDivisor(u64, i32),
    /// The guide gives no bound.
    None,
}

impl Entry {
    /// The tolerance for these arguments, in the function's order; `None` if the guide gives no bound.
    #[must_use]
    pub fn tolerance(&self, arguments: &[f64]) -> Option<Tolerance> {
        let last = arguments.last().copied().unwrap_or(0.0);
        let order = arguments.first().copied().unwrap_or(0.0);
        let ulps = |ulps| Some(Tolerance::ulps(ulps));
        let absolute = |difference| Some(Tolerance::absolute(difference));
        match self.bound {
            Bound::Ulps(most) => ulps(most),
            Bound::UlpsOutside(_, from, to) if (from..=to).contains(&last) => None,
            Bound::UlpsOutside(most, ..) => ulps(most),
            Bound::UlpsBelow(most, limit, _) if last.abs() < limit => ulps(most),
            Bound::UlpsBelow(_, _, most) => absolute(most),
            Bound::UlpsByOrder(most, limit, _) | Bound::AbsoluteBeyondOrder(most, limit, _)
                if order < 2.0 && last.abs() < limit =>
            {
                ulps(most)
            }
            Bound::UlpsByOrder(_, _, most) | Bound::AbsoluteBeyondOrder(_, _, most) if order < 2.0 => absolute(most),
            Bound::UlpsByOrder(..) if last.abs() < order => ulps((2.0 + 2.5 * order).ceil() as u64),
            Bound::UlpsByOrder(_, _, most) => absolute(most),
            Bound::AbsoluteAtOrder(at, most) => {
                if order == at {
                    absolute(most)
                } else {
                    None
                }
            }
            Bound::AbsoluteBeyondOrder(_, _, most) => {
                if last.abs() > 1.5 * order {
                    absolute(most)
                } else {
                    None
                }
            }
            // For NaN and infinity the growing part has no value; the result has one that is exact.
            Bound::UlpsGrowing(most, slope) => ulps(most.saturating_add((slope * last).abs().floor() as u64)),
            Bound::AbsoluteBetween(from, to, most, _) if (from..=to).contains(&last) => absolute(most),
            Bound::AbsoluteBetween(.., most) => ulps(most),
            Bound::AbsoluteWithin(limit, most) => {
                if last.abs() <= limit {
                    absolute(most)
                } else {
                    None
                }
            }
            Bound::Relative(part) => Some(Tolerance::relative(part)),
            Bound::UlpsForDivisor(most, exponent) => {
                let limit = 2_f64.powi(exponent);
                if (1.0 / limit..=limit).contains(&last.abs()) { ulps(most) } else { None }
            }
            Bound::None => None,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bound.fmt(f)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ulps(ulps) => write!(f, "{ulps} ulp"),
            Self::UlpsOutside(ulps, from, to) => write!(f, "{ulps} ulp outside {from} … {to}"),
            Self::UlpsBelow(ulps, limit, most) => write!(f, "{ulps} ulp for |x| < {limit}, else {most:e} absolute"),
            Self::UlpsByOrder(ulps, limit, most) => write!(
                f,
                "ceil(2 + 2.5n) ulp for |x| < n, {ulps} ulp for n < 2 and |x| < {limit}, else {most:e} absolute"
            ),
            Self::AbsoluteAtOrder(order, most) => write!(f, "{most:e} absolute for n = {order}"),
            Self::AbsoluteBeyondOrder(ulps, limit, most) => {
                write!(f, "{most:e} absolute for |x| > 1.5n, {ulps} ulp for n < 2 and |x| < {limit}")
            }
            Self::UlpsGrowing(ulps, slope) => write!(f, "{ulps} + floor(|{slope} x|) ulp"),
            Self::AbsoluteBetween(from, to, most, ulps) => {
                write!(f, "{most:.2e} absolute for {from} ≤ x ≤ {to}, else {ulps} ulp")
            }
            Self::AbsoluteWithin(limit, most) => write!(f, "{most:.2e} absolute for |x| ≤ {limit:.4}"),
            Self::Relative(part) => write!(f, "{part:.2e} relative"),
            Self::UlpsForDivisor(ulps, exponent) => write!(f, "{ulps} ulp for 2^-{exponent} ≤ |y| ≤ 2^{exponent}"),
            Self::None => write!(f, "none"),
        }
    }
}

/// The entry of a function of single precision, such as `sinf`, or of an intrinsic function, such as `__sinf`.
#[must_use]
pub fn single(name: &str) -> Option<&'static Entry> {
    SINGLE.iter().chain(INTRINSIC).find(|entry| entry.name == name)
}

/// The entry of a function of double precision, such as `sin`.
#[must_use]
pub fn double(name: &str) -> Option<&'static Entry> {
    DOUBLE.iter().find(|entry| entry.name == name)
}

macro_rules! table {
    ($($bound:expr => $($name:literal)+;)+) => {
        &[$($(Entry { name: $name, bound: { use Bound::*; $bound } }),+),+]
    };
}

/// Table 17. Divisions, reciprocals and square roots with `prec-div` and `prec-sqrt` on; for those without see
/// [`SINGLE_FAST`].
pub const SINGLE: &[Entry] = table! {
    Ulps(0) => "x+y" "x*y" "x/y" "1/x" "sqrtf" "fmaf" "frexpf" "ldexpf" "scalbnf" "scalblnf" "logbf" "ilogbf" "fmodf"
        "remainderf" "remquof" "modff" "fdimf" "truncf" "roundf" "rintf" "nearbyintf" "ceilf" "floorf" "lrintf"
        "lroundf" "llrintf" "llroundf";
    Ulps(1) => "cbrtf" "rcbrtf" "expm1f" "logf" "log2f" "log1pf" "sinpif" "cospif" "sincospif";
    Ulps(2) => "rsqrtf" "rhypotf" "rnorm3df" "rnorm4df" "expf" "exp2f" "exp10f" "log10f" "sinf" "cosf" "sincosf" "asinf"
        "acosf" "atanf" "coshf" "tanhf" "erff" "erfinvf";
    Ulps(3) => "hypotf" "norm3df" "norm4df" "atan2f" "sinhf" "asinhf" "atanhf";
    Ulps(4) => "tanf" "acoshf" "powf" "erfcf" "erfcinvf" "erfcxf";
    Ulps(5) => "normcdff" "normcdfinvf" "tgammaf";
    Ulps(6) => "cyl_bessel_i0f" "cyl_bessel_i1f";
    UlpsOutside(6, -10.001, -2.264) => "lgammaf";
    UlpsBelow(9, 8.0, 2.2e-6) => "j0f" "j1f" "y0f" "y1f";
    AbsoluteAtOrder(128.0, 2.2e-6) => "jnf";
    UlpsByOrder(9, 8.0, 2.2e-6) => "ynf";
    None => "normf" "rnormf";
};

/// Table 17, for compute capability 5.2 and later, with `prec-div` and `prec-sqrt` off.
pub const SINGLE_FAST: &[Entry] = table! {
    Ulps(2) => "x/y";
    Ulps(1) => "1/x" "sqrtf";
};

/// Table 18.
pub const DOUBLE: &[Entry] = table! {
    Ulps(0) => "x+y" "x*y" "x/y" "1/x" "sqrt" "fma" "frexp" "ldexp" "scalbn" "scalbln" "logb" "ilogb" "fmod" "remainder"
        "remquo" "modf" "fdim" "trunc" "round" "rint" "nearbyint" "ceil" "floor" "lrint" "lround" "llrint" "llround";
    Ulps(1) => "rsqrt" "cbrt" "rcbrt" "rhypot" "rnorm3d" "rnorm4d" "exp" "exp2" "exp10" "expm1" "log" "log2" "log10"
        "log1p" "cosh" "tanh";
    Ulps(2) => "hypot" "norm3d" "norm4d" "sin" "cos" "tan" "sincos" "sinpi" "cospi" "sincospi" "asin" "acos" "atan"
        "atan2" "sinh" "atanh" "pow" "erf";
    Ulps(3) => "asinh" "acosh";
    Ulps(4) => "erfcx";
    Ulps(5) => "erfc" "erfinv" "normcdf";
    Ulps(6) => "erfcinv" "cyl_bessel_i0" "cyl_bessel_i1";
    Ulps(8) => "normcdfinv";
    Ulps(10) => "tgamma";
    UlpsOutside(4, -23.0001, -2.2637) => "lgamma";
    UlpsBelow(7, 8.0, 5e-12) => "j0" "j1" "y0" "y1";
    AbsoluteAtOrder(128.0, 5e-12) => "jn";
    AbsoluteBeyondOrder(7, 8.0, 5e-12) => "yn";
    None => "norm" "rnorm";
};

/// 2^-21.41, 2^-21.19 and 2^-22, 2^-24 and 2^-11.
const MINUS_21_41: f64 = 3.588787907149952e-07;
const MINUS_21_19: f64 = 4.1799818101693836e-07;
const MINUS_22: f64 = 1.0 / 4_194_304.0;
const MINUS_24: f64 = 1.0 / 16_777_216.0;
const MINUS_11: f64 = 1.0 / 2048.0;

/// Table 21. `__tanf` and `__powf` have no bound of their own: they are derived from the others.
pub const INTRINSIC: &[Entry] = table! {
    Ulps(0) => "__fadd_rn" "__fsub_rn" "__fmul_rn" "__fmaf_rn" "__frcp_rn" "__fsqrt_rn" "__frsqrt_rn" "__fdiv_rn";
    UlpsForDivisor(2, 126) => "__fdividef";
    UlpsGrowing(2, 1.173) => "__expf";
    UlpsGrowing(2, 2.97) => "__exp10f";
    AbsoluteBetween(0.5, 2.0, MINUS_21_41, 3) => "__logf";
    AbsoluteBetween(0.5, 2.0, MINUS_22, 2) => "__log2f";
    AbsoluteBetween(0.5, 2.0, MINUS_24, 3) => "__log10f";
    AbsoluteWithin(std::f64::consts::PI, MINUS_21_41) => "__sinf";
    AbsoluteWithin(std::f64::consts::PI, MINUS_21_19) => "__cosf";
    Relative(MINUS_11) => "__tanhf";
    None => "__tanf" "__powf";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once() {
        for table in [SINGLE, DOUBLE, INTRINSIC] {
            let mut names: Vec<_> = table.iter().map(|entry| entry.name).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        }
        // The tables of both precisions have the same functions.
        let single = SINGLE.iter().map(|entry| entry.name.strip_suffix('f').unwrap_or(entry.name));
        assert!(
            single.clone().all(|name| double(name).is_some() || name == "modf"),
            "{:?}",
            single.collect::<Vec<_>>()
        );
        assert_eq!(SINGLE.len(), DOUBLE.len());
    }

    #[test]
    fn powers_are_what_they_say() {
        assert!((MINUS_21_41.log2() + 21.41).abs() < 1e-12, "{}", MINUS_21_41.log2());
        assert!((MINUS_21_19.log2() + 21.19).abs() < 1e-12, "{}", MINUS_21_19.log2());
    }

    #[test]
    fn bounds_depend_on_the_input() {
        let single = |name| single(name).unwrap();
        assert_eq!(single("sinf").tolerance(&[1e30]), Some(Tolerance::ulps(2)));
        assert_eq!(single("lgammaf").tolerance(&[-5.0]), None);
        assert_eq!(single("lgammaf").tolerance(&[-11.0]), Some(Tolerance::ulps(6)));
        assert_eq!(single("j0f").tolerance(&[-7.9]), Some(Tolerance::ulps(9)));
        assert_eq!(single("j0f").tolerance(&[8.0]), Some(Tolerance::absolute(2.2e-6)));
        assert_eq!(single("ynf").tolerance(&[3.0, 2.0]), Some(Tolerance::ulps(10)));
        assert_eq!(single("ynf").tolerance(&[3.0, 4.0]), Some(Tolerance::absolute(2.2e-6)));
        assert_eq!(single("ynf").tolerance(&[0.0, 4e-45]), Some(Tolerance::ulps(9)));
        assert_eq!(single("ynf").tolerance(&[1.0, 9.0]), single("y1f").tolerance(&[9.0]));
        assert_eq!(double("yn").unwrap().tolerance(&[1.0, 0.5]), Some(Tolerance::ulps(7)));
        assert_eq!(single("jnf").tolerance(&[3.0, 2.0]), None);
        assert_eq!(single("__expf").tolerance(&[-10.0]), Some(Tolerance::ulps(13)));
        assert_eq!(single("__logf").tolerance(&[3.0]), Some(Tolerance::ulps(3)));
        assert_eq!(single("__sinf").tolerance(&[4.0]), None);
        assert_eq!(single("__fdividef").tolerance(&[1.0, 2_f64.powi(127)]), None);
        assert_eq!(double("yn").unwrap().tolerance(&[2.0, 4.0]), Some(Tolerance::absolute(5e-12)));
    }
}

//! References of functions of one number that need no MPFR for most inputs: polynomials through MPFR's values.
//!
//! The numbers are cut into pieces of binades. A piece that enough inputs lie in gets a polynomial of degree 23 through MPFR's
//! values, in sums of two numbers; it serves if it is as MPFR says at points between. Otherwise the piece is halved, and where
//! that does not help either, as at poles, MPFR serves. Near a function's zeros MPFR serves as well.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ptx_host::compare::Exact;
use rug::Float;

use crate::functions::{Function, function};
use crate::number::{self, number};
use crate::special;

/// Coefficients of a polynomial.
const TERMS: usize = 24;
/// Pieces of a binade, as a power of two.
const BITS: u32 = 3;
/// How often a piece may be halved.
const HALVES: u32 = 8;
/// So many inputs of a piece are MPFR's to judge: that many are cheaper than the polynomial.
const RARE: u32 = 64;
/// The relative error that is accepted of a polynomial. An error of a result of double precision is then known to 2^-15 units.
pub const ACCURACY: f64 = 1.0 / (1_u128 << 68) as f64;
/// The absolute error that is accepted where the bound is absolute: those are 5e-12.
pub const FLOOR: f64 = 1e-15;
/// Pieces longer than this hold too much of a Bessel function's waves for a polynomial.
const LONGEST_WAVES: f64 = 8.0;
/// Results of this fraction of a piece's largest are MPFR's: the polynomial's error is that of the largest.
const NEAR_ZERO: f64 = 1.0 / 1024.0;
/// Beyond these the second number of a sum could underflow, or the first overflow.
const SMALLEST: f64 = 1e-270;
const LARGEST: f64 = 1e300;
/// Bits for making polynomials.
const WIDE: u32 = 256;

/// A function of one number, of which the reference learns from the inputs.
struct Fast {
    function: Function,
    /// By sign, exponent and the fraction's first bits.
    pieces: Vec<Piece>,
    /// The order, for functions that have one before the number.
    order: Option<f64>,
    /// From this magnitude on the bound is absolute, and errors up to [`FLOOR`] are none.
    absolute_from: f64,
}

/// An interval of numbers.
#[derive(Default)]
struct Piece {
    hits: AtomicU32,
    state: OnceLock<State>,
}

enum State {
    Polynomial(Box<Polynomial>),
    Halves(Box<[Piece; 2]>),
    Hard,
}

/// In `(x - middle) * scale`, which lies between -1 and 1.
struct Polynomial {
    middle: f64,
    scale: f64,
    coefficients: [Exact; TERMS],
    /// A result below this is too near to zero.
    least: f64,
}

impl Fast {
    fn new(function: Function, order: Option<f64>, absolute_from: f64) -> Self {
        let pieces = (0..1_usize << (12 + BITS)).map(|_| Piece::default()).collect();
        Self { function, pieces, order, absolute_from }
    }

    /// By MPFR.
    fn slowly(&self, x: f64) -> Exact {
        match self.order {
            Some(order) => (self.function)(&[order, x]),
            None => (self.function)(&[x]),
        }
    }

    fn is_absolute(&self, x: f64) -> bool {
        x.abs() >= self.absolute_from
    }

    /// The function's value: within [`ACCURACY`] of it, or within [`FLOOR`].
    fn value(&self, x: f64) -> Exact {
        if !x.is_normal() {
            return self.slowly(x);
        }
        let width = 52 - BITS;
        let first = x.to_bits() >> width;
        let bounds = (f64::from_bits(first << width), f64::from_bits((first << width) | ((1 << width) - 1)));
        self.pieces[first as usize].value(self, x, bounds, 0).unwrap_or_else(|| self.slowly(x))
    }

    /// The polynomial of an interval, if it is as exact as it must be.
    fn polynomial(&self, (from, to): (f64, f64)) -> Option<Polynomial> {
        // Up to the beginning of the next one.
        let to = f64::from_bits(to.to_bits() + 1);
        let (middle, scale) = ((from + to) / 2.0, 2.0 / (to - from).abs());
        if !middle.is_finite() || !scale.is_finite() {
            return None;
        }
        let absolute = self.is_absolute(from);
        let nodes: Vec<f64> = (0..TERMS)
            .map(|i| (std::f64::consts::PI * (2.0 * i as f64 + 1.0) / (2.0 * TERMS as f64)).cos())
            .map(|t| (middle + t / scale - middle) * scale)
            .collect();
        let values: Vec<Exact> = nodes.iter().map(|t| self.slowly(middle + t / scale)).collect();
        let fits = |value: &Exact| value.high.abs() < LARGEST && (value.high.abs() > SMALLEST || absolute);
        if !values.iter().all(fits) {
            return None;
        }
        let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.high.abs()));
        let coefficients = interpolated(&nodes, &values);
        let least = if absolute { 0.0 } else { largest * NEAR_ZERO };
        let polynomial = Polynomial { middle, scale, coefficients, least };
        let accepted = if absolute { FLOOR } else { largest * NEAR_ZERO * ACCURACY };
        // Between the nodes, where the error is largest, and at the ends.
        let holds = (0..=TERMS).step_by(3).all(|i| {
            let t = (std::f64::consts::PI * i as f64 / TERMS as f64).cos();
            let x = (middle + t * (1.0 - 1e-9) / scale).clamp(from.min(to), from.max(to));
            let (expected, got) = (self.slowly(x), polynomial.at(x));
            let error = ((expected.high - got.high) + (expected.low - got.low)).abs();
            // A margin of 4 for the points that were not tried.
            error * 4.0 <= accepted
        });
        holds.then_some(polynomial)
    }
}

/// A reference of a function, for all its inputs.
pub struct Reference {
    exact: Function,
    by: By,
}

enum By {
    /// The last argument's polynomials.
    Itself(Fast),
    /// By order.
    Orders(Vec<(f64, Fast)>),
    /// `erfinv` and its kin meet singularities at the ends of their domains; each serves where it has none.
    Inverse { inverse: Inverse, erfinv: Fast, erfcinv: Fast, root: Exact },
}

#[derive(Clone, Copy)]
enum Inverse {
    Erfinv,
    Erfcinv,
    Normcdfinv,
}

/// The reference of a function that MPFR is slow at; nothing for others.
pub fn fast(name: &str) -> Option<Reference> {
    let exact = function(name)?;
    let inverse = |inverse| By::Inverse {
        inverse,
        erfinv: Fast::new(|x| number::exact(&special::erfinv(x[0])), None, f64::INFINITY),
        erfcinv: Fast::new(|x| number::exact(&special::erfcinv(number(x[0]))), None, f64::INFINITY),
        root: number::exact(&number(2.0).sqrt()),
    };
    let by = match name {
        "erf" | "erfc" | "erfcx" | "normcdf" | "lgamma" | "tgamma" => By::Itself(Fast::new(exact, None, f64::INFINITY)),
        "j0" | "j1" | "y0" | "y1" => By::Itself(Fast::new(exact, None, 8.0)),
        "jn" => By::Orders(vec![(128.0, Fast::new(exact, Some(128.0), 0.0))]),
        "yn" => {
            let from = |order: f64| if order < 2.0 { 8.0 } else { 1.5 * order };
            let orders = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0];
            By::Orders(orders.map(|order| (order, Fast::new(exact, Some(order), from(order)))).into())
        }
        "erfinv" => inverse(Inverse::Erfinv),
        "erfcinv" => inverse(Inverse::Erfcinv),
        "normcdfinv" => inverse(Inverse::Normcdfinv),
        _ => return None,
    };
    Some(Reference { exact, by })
}

impl Reference {
    /// The exact result, to [`ACCURACY`] or [`FLOOR`].
    pub fn value(&self, arguments: &[f64]) -> Exact {
        let x = arguments[arguments.len() - 1];
        match &self.by {
            By::Itself(fast) => fast.value(x),
            By::Orders(orders) => match orders.iter().find(|(order, _)| *order == arguments[0]) {
                Some((_, fast)) => fast.value(x),
                None => (self.exact)(arguments),
            },
            By::Inverse { inverse, erfinv, erfcinv, root } => {
                // All differences are exact, see Sterbenz's lemma.
                let of_erfc = |x: f64| match x {
                    0.0..0.5 => Some(erfcinv.value(x)),
                    0.5..=1.5 => Some(erfinv.value(1.0 - x)),
                    1.5..=2.0 => Some(negated(erfcinv.value(2.0 - x))),
                    _ => None,
                };
                let found = match inverse {
                    Inverse::Erfinv if x.abs() <= 0.5 => Some(erfinv.value(x)),
                    Inverse::Erfinv if x.abs() <= 1.0 => {
                        let value = erfcinv.value(1.0 - x.abs());
                        Some(if x < 0.0 { negated(value) } else { value })
                    }
                    Inverse::Erfinv => None,
                    Inverse::Erfcinv => of_erfc(x),
                    Inverse::Normcdfinv => of_erfc(2.0 * x).map(|value| negated(product(value, *root))),
                };
                found.filter(|value| value.high.is_finite()).unwrap_or_else(|| (self.exact)(arguments))
            }
        }
    }

    /// The same by MPFR alone.
    pub fn exact(&self) -> Function {
        self.exact
    }
}

fn negated(value: Exact) -> Exact {
    Exact { high: -value.high, low: -value.low }
}

impl Piece {
    fn value(&self, fast: &Fast, x: f64, (from, to): (f64, f64), depth: u32) -> Option<Exact> {
        let is_too_long = fast.absolute_from.is_finite() && (to - from).abs() > LONGEST_WAVES && depth < HALVES;
        if !is_too_long && self.state.get().is_none() && self.hits.fetch_add(1, Ordering::Relaxed) < RARE {
            return None;
        }
        let found = || if is_too_long { None } else { fast.polynomial((from, to)) };
        let state = self.state.get_or_init(|| match found() {
            Some(polynomial) => State::Polynomial(Box::new(polynomial)),
            None if depth < HALVES => State::Halves(Box::default()),
            None => State::Hard,
        });
        match state {
            State::Polynomial(polynomial) => {
                let value = polynomial.at(x);
                (value.high.abs() >= polynomial.least).then_some(value)
            }
            State::Halves(halves) => {
                let bit = 1 << (51 - BITS - depth);
                let (low, high) = (from.to_bits(), to.to_bits());
                let second = x.to_bits() & bit != 0;
                let bounds = if second { (low | bit, high) } else { (low, high & !bit) };
                let bounds = (f64::from_bits(bounds.0), f64::from_bits(bounds.1));
                halves[usize::from(second)].value(fast, x, bounds, depth + 1)
            }
            State::Hard => None,
        }
    }
}

impl Polynomial {
    fn at(&self, x: f64) -> Exact {
        // Both steps are exact: the interval is short, and the scale a power of two.
        let t = (x - self.middle) * self.scale;
        let mut sum = self.coefficients[TERMS - 1];
        for coefficient in self.coefficients.iter().rev().skip(1) {
            sum = add(*coefficient, times(sum, t));
        }
        sum
    }
}

/// The coefficients of the polynomial through points, by divided differences.
fn interpolated(nodes: &[f64], values: &[Exact]) -> [Exact; TERMS] {
    let wide = |x: f64| Float::with_val(WIDE, x);
    let mut differences: Vec<Float> = values.iter().map(|value| wide(value.high) + value.low).collect();
    for order in 1..TERMS {
        for i in (order..TERMS).rev() {
            let step = wide(nodes[i]) - nodes[i - order];
            let difference = wide(0.0) + &differences[i] - &differences[i - 1];
            differences[i] = difference / step;
        }
    }
    // Newton's form multiplied out.
    let mut coefficients = vec![wide(0.0); TERMS];
    for i in (0..TERMS).rev() {
        for k in (1..TERMS).rev() {
            let below = coefficients[k - 1].clone();
            coefficients[k] = below - coefficients[k].clone() * nodes[i];
        }
        coefficients[0] = differences[i].clone() - coefficients[0].clone() * nodes[i];
    }
    std::array::from_fn(|k| number::exact(&coefficients[k]))
}

/// The sum of two sums, to about 105 bits.
fn add(a: Exact, b: Exact) -> Exact {
    let (high, error) = two_sum(a.high, b.high);
    quick(high, error + (a.low + b.low))
}

fn times(a: Exact, t: f64) -> Exact {
    let high = a.high * t;
    quick(high, a.high.mul_add(t, -high) + a.low * t)
}

/// The product of two sums, to about 103 bits.
fn product(a: Exact, b: Exact) -> Exact {
    let high = a.high * b.high;
    quick(high, a.high.mul_add(b.high, -high) + (a.high * b.low + a.low * b.high))
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let high = a + b;
    let part = high - a;
    (high, (a - (high - part)) + (b - part))
}

fn quick(high: f64, low: f64) -> Exact {
    let sum = high + low;
    Exact { high: sum, low: low - (sum - high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Random;

    /// What the polynomials say is what MPFR says, wherever they serve.
    #[test]
    fn polynomials_agree_with_mpfr() {
        let cases: [(&str, Option<f64>, f64, f64); 14] = [
            ("erf", None, -6.0, 6.0),
            ("erfc", None, -6.0, 27.5),
            ("erfcx", None, -26.0, 100.0),
            ("erfinv", None, -1.0, 1.0),
            ("erfcinv", None, 0.0, 2.0),
            ("normcdf", None, -38.6, 9.0),
            ("normcdfinv", None, 0.0, 1.0),
            ("lgamma", None, -5.0, 20.0),
            ("tgamma", None, -5.0, 20.0),
            ("j0", None, -20.0, 20.0),
            ("y0", None, 0.0, 20.0),
            ("y1", None, 0.0, 4.0),
            ("yn", Some(3.0), 4.5, 20.0),
            ("jn", Some(128.0), 100.0, 140.0),
        ];
        for (name, order, from, to) in cases {
            let reference = fast(name).unwrap();
            let mut random = Random::new(3);
            for i in 0..6000_u32 {
                let spread = if i % 4 == 0 { 2_f64.powi(-(random.bits() as i32 & 15)) } else { 1.0 };
                let x = from + (to - from) * random.unit() * spread;
                let arguments: Vec<f64> = order.into_iter().chain([x]).collect();
                let got = reference.value(&arguments);
                // Few enough that MPFR can follow.
                if i >= 5500 {
                    check(name, &arguments, got, reference.exact()(&arguments));
                }
            }
            let fasts: Vec<&Fast> = match &reference.by {
                By::Itself(fast) => vec![fast],
                By::Orders(orders) => orders.iter().map(|(_, fast)| fast).collect(),
                By::Inverse { erfinv, erfcinv, .. } => vec![erfinv, erfcinv],
            };
            let polynomials: usize = fasts.into_iter().flat_map(|fast| &fast.pieces).map(polynomials).sum();
            assert!(polynomials >= 1, "{name} has none");
        }
    }

    fn polynomials(piece: &Piece) -> usize {
        match piece.state.get() {
            Some(State::Polynomial(_)) => 1,
            Some(State::Halves(halves)) => halves.iter().map(polynomials).sum(),
            Some(State::Hard) | None => 0,
        }
    }

    fn check(name: &str, arguments: &[f64], got: Exact, expected: Exact) {
        let error = ((expected.high - got.high) + (expected.low - got.low)).abs();
        let accepted = (expected.high.abs() * ACCURACY).max(if name.starts_with(['j', 'y']) { FLOOR } else { 0.0 });
        assert!(error <= accepted, "{name}({arguments:?}): {got:?}, but MPFR has {expected:?}");
    }

    #[test]
    fn what_has_no_polynomial_is_mpfrs() {
        for x in [f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 5e-324] {
            for name in ["erfinv", "erfcinv", "normcdfinv", "erfc", "y0", "lgamma"] {
                let (got, expected) = (fast(name).unwrap().value(&[x]).high, function(name).unwrap()(&[x]).high);
                assert!(got == expected || got.is_nan() && expected.is_nan(), "{name}({x}): {got}, {expected}");
            }
        }
    }
}

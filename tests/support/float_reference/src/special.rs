//! Functions that MPFR lacks, from those it has.

use ptx_host::compare::Exact;
use rug::Float;
use rug::float::Constant;
use rug::ops::NegAssign;

use crate::number::{PRECISION, number};

fn pi() -> Float {
    Float::with_val(PRECISION, Constant::Pi)
}

/// 1 / √x; of a zero an infinity of the same sign (IEEE 754-2008, §9.2.1, and CUDA), where MPFR has the positive one.
pub(crate) fn rsqrt(x: f64) -> Float {
    if x == 0.0 { number(1.0 / x) } else { number(x).recip_sqrt() }
}

/// The exponent: that of the power of two at most the number's magnitude.
pub(crate) fn logb(x: f64) -> Float {
    match number(x).get_exp() {
        // MPFR's fractions are below 1.
        Some(exponent) => Float::with_val(PRECISION, exponent - 1),
        None if x == 0.0 => number(f64::NEG_INFINITY),
        None => number(x.abs()),
    }
}

/// J of an order. MPFR takes milliseconds for large ones; where the argument is not far below the order, steps up from the orders 0
/// and 1 lose fewer bits than there are to spare.
pub(crate) fn jn(order: f64, x: f64) -> Float {
    if order < 16.0 || !(0.8 * order..1e6).contains(&x.abs()) {
        return number(x).jn(order as i32);
    }
    let wide = Float::with_val(PRECISION + 64, x);
    let (mut before, mut value) = (wide.clone().j0(), wide.clone().j1());
    let step = Float::with_val(PRECISION + 64, 2) / wide;
    for n in 1..order as u32 {
        let next = Float::with_val(PRECISION + 64, &step * n) * &value - &before;
        before = value;
        value = next;
    }
    value
}

/// x y + z: correctly rounded, and what is left of the exact sum, which may have thousands of bits.
pub(crate) fn fma(x: f64, y: f64, z: f64) -> Exact {
    let high = x.mul_add(y, z);
    if !high.is_finite() {
        return high.into();
    }
    let product = Float::with_val(106, number(x) * number(y));
    let terms = [product, number(z), number(-high)];
    Exact { high, low: Float::with_val(53, Float::sum(terms.iter())).to_f64() }
}

/// The root of the sum of the squares. Infinite as soon as one number is, also beside a NaN, as C has it for `hypot`.
pub(crate) fn norm(numbers: &[f64]) -> Float {
    if numbers.iter().any(|x| x.is_infinite()) {
        return number(f64::INFINITY);
    }
    // Squares have 106 bits; what a smaller one adds below the sum's last bit does not matter.
    let sum = numbers.iter().fold(number(0.0), |sum, &x| sum + number(x).square());
    sum.sqrt()
}

/// exp(x²) erfc(x); from 64 on by the series of erfc at infinity, so that nothing over- or underflows.
pub(crate) fn erfcx(x: f64) -> Float {
    if x == f64::INFINITY {
        return number(0.0);
    }
    if x < 64.0 || x.is_nan() {
        // The square's rounding error, as a factor, is that of its last bits: up to 13 more bits below -26, where the
        // result overflows; the series takes over above.
        let wide = Float::with_val(2 * PRECISION, x);
        return Float::with_val(PRECISION, wide.clone().square().exp() * wide.erfc());
    }
    // 1 / (x √π) (1 - 1/(2x²) + 1·3/(2x²)² - …): the terms shrink by more than 2^12 / k.
    let y = number(x).square() * 2;
    let (mut term, mut sum) = (number(1.0), number(1.0));
    for k in 0..16_u32 {
        term *= 2 * k + 1;
        term /= &y;
        term.neg_assign();
        sum += &term;
    }
    sum / (number(x) * pi().sqrt())
}

/// Half of erfc(-x / √2).
pub(crate) fn normcdf(x: f64) -> Float {
    // A relative error of the argument grows by the square of it, which is under 2^11 where the result is not 0.
    let wide = Float::with_val(PRECISION + 24, -x) / Float::with_val(PRECISION + 24, 2).sqrt();
    if x < -1e5 && !x.is_nan() {
        return number(0.0);
    }
    Float::with_val(PRECISION, wide.erfc()) / 2
}

/// The inverse of [`normcdf`].
pub(crate) fn normcdfinv(p: f64) -> Float {
    // erfcinv(2p) / √2 with the sign turned; twice p is exact.
    -(erfcinv(number(p) * 2) * Float::with_val(PRECISION, 2).sqrt())
}

/// The inverse of erf: by erfcinv above a half, where 1 - x is exact, and by Newton's method on erf below.
pub(crate) fn erfinv(x: f64) -> Float {
    if x.is_nan() || x.abs() > 1.0 {
        return number(f64::NAN);
    }
    if x == 0.0 {
        return number(x);
    }
    if x.abs() > 0.5 {
        let result = erfcinv(1 - number(x.abs()));
        return if x < 0.0 { -result } else { result };
    }
    let target = number(x);
    let slope = pi().sqrt() / 2; // of the inverse: √π / 2 exp(y²)
    let mut y = Float::with_val(PRECISION, &target * &slope);
    // Each step doubles the correct bits, and the first guess has three.
    for _ in 0..STEPS {
        let step = (y.clone().erf() - &target) * &slope * y.clone().square().exp();
        y -= &step;
        if small(&step, &y) {
            break;
        }
    }
    y
}

/// The inverse of erfc: by Newton's method on its logarithm, which is nearly a parabola.
pub(crate) fn erfcinv(x: Float) -> Float {
    if x.is_nan() || !(0..=2).contains(&x) {
        return number(f64::NAN);
    }
    if x == 0 {
        return number(f64::INFINITY);
    }
    if x > 1 {
        return -erfcinv(2 - x);
    }
    if x > 0.5 {
        // The result is small, and so is 1 - x, which is exact.
        let target = Float::with_val(2 * PRECISION, 1 - &x);
        if target.is_zero() {
            return number(0.0);
        }
        let slope = pi().sqrt() / 2;
        let mut y = Float::with_val(PRECISION, &target * &slope);
        for _ in 0..STEPS {
            let step = (y.clone().erf() - &target) * &slope * y.clone().square().exp();
            y -= &step;
            if small(&step, &y) {
                break;
            }
        }
        return y;
    }
    let log = x.clone().ln();
    // erfc(y) ≈ exp(-y²) / (y √π).
    let guess = (-log.to_f64()).sqrt();
    let guess = (-log.to_f64() - (guess.max(0.5) * std::f64::consts::PI.sqrt()).ln()).max(0.2).sqrt();
    let mut y = number(guess);
    let factor = pi().sqrt() / 2;
    for _ in 0..STEPS {
        // (ln erfc)' = -2/√π exp(-y²) / erfc(y)
        let erfc = y.clone().erfc();
        let slope = Float::with_val(PRECISION, &erfc * &factor) * y.clone().square().exp();
        let step = (erfc.ln() - &log) * slope;
        y += &step;
        if small(&step, &y) {
            break;
        }
    }
    y
}

/// The most steps of Newton's method; about six are needed.
const STEPS: u32 = 40;

/// Whether the step after this one would be below the last bit: its relative size is about this one's square.
fn small(step: &Float, value: &Float) -> bool {
    match (step.get_exp(), value.get_exp()) {
        (Some(step), Some(value)) => step - value < -58,
        _ => true,
    }
}

/// The modified Bessel functions I0 and I1: the series at 0, whose terms are all positive; above 64 the one at infinity,
/// which leaves out less than exp(-128).
pub(crate) fn bessel_i(order: u32, x: f64) -> Float {
    if x.is_nan() {
        return number(x);
    }
    let negative = order == 1 && x < 0.0;
    let x = x.abs();
    let result = if x.is_infinite() {
        number(x)
    } else if x <= 64.0 {
        let quarter = (number(x) / 2_u32).square();
        let mut term = if order == 1 { number(x) / 2_u32 } else { number(1.0) };
        let mut sum = term.clone();
        for k in 1.. {
            term *= &quarter;
            term /= k * (k + order);
            sum += &term;
            if is_below(&term, &sum) {
                break;
            }
        }
        sum
    } else {
        // exp(x) / √(2πx) (1 - (μ-1)/(8x) + (μ-1)(μ-9)/(2! (8x)²) - …), μ = 4 n²
        let mu = i64::from(4 * order * order);
        let wide = PRECISION + 24;
        let eight = number(x) * 8;
        let (mut term, mut sum) = (Float::with_val(wide, 1), Float::with_val(wide, 1));
        for k in 1..200_i64 {
            term *= (2 * k - 1).pow(2) - mu;
            term /= &eight;
            term /= k;
            sum += &term;
            if is_below(&term, &sum) {
                break;
            }
        }
        let root = (pi() * x * 2_u32).sqrt();
        Float::with_val(wide, x).exp() * sum / root
    };
    if negative { -result } else { result }
}

/// Whether the term no longer changes the sum.
fn is_below(term: &Float, sum: &Float) -> bool {
    match (term.get_exp(), sum.get_exp()) {
        (Some(term), Some(sum)) => term < sum - PRECISION as i32 - 4,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Random;

    /// The inverse of the inverse is what one began with, to 100 bits.
    #[test]
    fn inverses_are_inverse() {
        let close = |a: &Float, b: &Float, what: &str| {
            let error = Float::with_val(PRECISION, a - b).abs();
            let limit = b.clone().abs() * Float::with_val(PRECISION, 2).exp2() * 2_f64.powi(-96);
            assert!(error <= limit, "{what}: {a} and {b}");
        };
        let mut random = Random::new(1);
        for i in 0..300 {
            let x = random.unit() * if i % 2 == 0 { 1.0 } else { 1e-5 };
            close(&erfinv(x).erf(), &number(x), &format!("erf(erfinv({x}))"));
            let small = x * 10_f64.powi(-(i % 300));
            let inverse = erfcinv(number(small));
            // An error of the argument counts 2 y² times in erfc.
            let weight = inverse.clone().square() * 2 + 1;
            let back = inverse.erfc();
            let error = Float::with_val(PRECISION, &back - small).abs() / small / weight;
            assert!(error < 2_f64.powi(-98), "erfc(erfcinv({small})): {error}");
        }
    }

    #[test]
    fn steps_in_the_order_are_mpfrs() {
        for x in [-150.0, 103.0, 110.5, 128.0, 140.25, 400.0, 5000.0] {
            let error = Float::with_val(PRECISION, jn(128.0, x) - number(x).jn(128)).abs();
            assert!(error < 2_f64.powi(-100), "J128({x}): {error}");
        }
    }

    /// Where two formulas meet they agree, each to nearly all bits.
    #[test]
    fn formulas_meet() {
        for x in [64.0_f64, 64.5, 70.0, 100.0] {
            let wide = Float::with_val(400, x);
            let direct = Float::with_val(PRECISION, wide.clone().square().exp() * wide.erfc());
            let error = Float::with_val(PRECISION, erfcx(x) / direct - 1_u32).abs();
            assert!(error < 2_f64.powi(-100), "erfcx({x}): {error}");
        }
        for order in [0, 1] {
            // The series at 0 holds everywhere; only its length grows.
            for x in [64.5_f64, 100.0, 500.0] {
                let quarter = (number(x) / 2_u32).square();
                let mut term = if order == 1 { number(x) / 2_u32 } else { number(1.0) };
                let mut sum = term.clone();
                for k in 1..3000_u32 {
                    term *= &quarter;
                    term /= k * (k + order);
                    sum += &term;
                }
                let error = Float::with_val(PRECISION, bessel_i(order, x) / sum - 1_u32).abs();
                assert!(error < 2_f64.powi(-95), "I{order}({x}): {error}");
            }
        }
    }
}

//! Operations in every direction of rounding, by MPFR with the exponents of the format.

use std::cmp::Ordering;

use rug::Float;
use rug::float::Round;
use rug::ops::{AddAssignRound, DivAssignRound, DivFromRound, MulAssignRound, SubAssignRound};

use crate::{Format, Mode, Operation};

impl From<Mode> for Round {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Nearest => Self::Nearest,
            Mode::Zero => Self::Zero,
            Mode::Up => Self::Up,
            Mode::Down => Self::Down,
        }
    }
}

/// The operation's result. Operands that it does not have are not looked at.
pub fn operation<T: Format>(operation: Operation, mode: Mode, operands: [T; 3]) -> T {
    let (result, direction) = unlimited(operation, mode, operands);
    finish(result, direction, mode)
}

/// The result in the format's precision, as if no number were too small or too large, and to which side it was rounded.
fn unlimited<T: Format>(operation: Operation, mode: Mode, [a, b, c]: [T; 3]) -> (Float, Ordering) {
    let round = mode.into();
    let precision = T::PRECISION as u32;
    let number = |value: T| Float::with_val(precision, value.to_f64());
    let mut result = number(a);
    let direction = match operation {
        Operation::Add => result.add_assign_round(&number(b), round),
        Operation::Sub => result.sub_assign_round(&number(b), round),
        Operation::Mul => result.mul_assign_round(&number(b), round),
        Operation::Div => result.div_assign_round(&number(b), round),
        Operation::Rcp => result.div_from_round(1, round),
        Operation::Sqrt => result.sqrt_round(round),
        Operation::Fma => result.mul_add_round(&number(b), &number(c), round),
    };
    (result, direction)
}

/// The operation's result with `.ftz`: subnormal operands are zeros, and so are results that are below the smallest normal
/// number after rounding to the format's precision, even where the fewer bits of subnormal numbers would make them that number.
pub fn flushing_operation<T: Format>(what: Operation, mode: Mode, operands: [T; 3]) -> T {
    let operands = operands.map(flushed);
    let result = operation(what, mode, operands);
    let tiny = unlimited(what, mode, operands).0.abs() < 2_f64.powi(T::MIN_EXPONENT);
    if tiny { T::from_f64(0.0_f64.copysign(result.to_f64())) } else { result }
}

/// A zero of the same sign for a subnormal number.
pub fn flushed<T: Format>(x: T) -> T {
    if x.to_f64().abs() < 2_f64.powi(T::MIN_EXPONENT) { T::from_f64(0.0_f64.copysign(x.to_f64())) } else { x }
}

/// Gives a result of the format's precision the format's exponents: subnormal numbers have fewer bits, and what is too
/// large is infinite, or the largest where the mode rounds towards zero.
fn finish<T: Format>(mut result: Float, direction: Ordering, mode: Mode) -> T {
    result.subnormalize_ieee_round(direction, mode.into());
    T::of_bits(match T::PRECISION {
        24 => result.to_f32_round(mode.into()).to_bits().into(),
        _ => result.to_f64_round(mode.into()).to_bits(),
    })
}

/// A number of double precision in single precision.
pub fn narrow(value: f64, mode: Mode) -> f32 {
    let mut result = Float::new(24);
    let direction = rug::ops::AssignRound::assign_round(&mut result, value, mode.into());
    finish(result, direction, mode)
}

/// An integer as a number of the format.
pub fn round_integer<T: Format>(value: i128, mode: Mode) -> T {
    let (result, direction) = Float::with_val_round(T::PRECISION as u32, value, mode.into());
    finish(result, direction, mode)
}

/// A number as an integer, as PTX converts: what does not fit becomes the nearest that does; nothing for NaN.
pub fn to_integer(value: f64, mode: Mode, min: i128, max: i128) -> Option<i128> {
    if value.is_nan() {
        return None;
    }
    let whole = match mode {
        Mode::Nearest => value.round_ties_even(),
        Mode::Zero => value.trunc(),
        Mode::Up => value.ceil(),
        Mode::Down => value.floor(),
    };
    // The conversion of Rust saturates, and the extremes of i128 are beyond those of every type here.
    Some((whole as i128).clamp(min, max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{operands, special_operands};

    fn inputs<T: Format>() -> Vec<[T; 3]> {
        [special_operands(), operands(11, 60_000)].concat()
    }

    #[track_caller]
    fn equal<T: Format>(got: T, expected: T, what: Operation, mode: Mode, operands: [T; 3]) {
        let same = got.same(expected);
        assert!(same, "{what:?} {mode:?} {operands:?}: {} by MPFR, {} expected", got.hex(), expected.hex());
    }

    /// The CPU rounds to the nearest, and IEEE 754 leaves no choice.
    #[test]
    fn to_the_nearest_as_the_cpu_does() {
        macro_rules! check {
            ($ty:ty) => {
                for operands in inputs::<$ty>() {
                    let [a, b, c] = operands;
                    let expected = [a + b, a - b, a * b, a.mul_add(b, c), 1.0 / a, a / b, a.sqrt()];
                    for (what, expected) in Operation::ALL.into_iter().zip(expected) {
                        equal(operation(what, Mode::Nearest, operands), expected, what, Mode::Nearest, operands);
                    }
                }
            };
        }
        check!(f32);
        check!(f64);
    }

    /// The product of two f32 is a number of f64; comparing with it decides every direction without MPFR.
    #[test]
    fn products_in_every_direction_by_comparing() {
        for operands in inputs::<f32>() {
            let exact = f64::from(operands[0]) * f64::from(operands[1]);
            for mode in Mode::ALL {
                equal(operation(Operation::Mul, mode, operands), directed(exact, mode), Operation::Mul, mode, operands);
                equal(narrow(exact, mode), directed(exact, mode), Operation::Mul, mode, operands);
            }
        }
    }

    /// The number of f32 next to `exact` in a direction.
    fn directed(exact: f64, mode: Mode) -> f32 {
        let nearest = exact as f32;
        let (above, below) = (f64::from(nearest) > exact, f64::from(nearest) < exact);
        match mode {
            Mode::Nearest => nearest,
            Mode::Up if below => nearest.next_up(),
            Mode::Down if above => nearest.next_down(),
            Mode::Zero if below && exact < 0.0 => nearest.next_up(),
            Mode::Zero if above && exact > 0.0 => nearest.next_down(),
            _ => nearest,
        }
    }

    /// Downwards and upwards enclose the exact result, as closely as two numbers can; the sign of what is left of
    /// quotients and roots is exact in f64.
    #[test]
    fn quotients_and_roots_enclose_the_exact_result() {
        let finite = |operands: &[f32; 3]| operands.iter().all(|x| x.is_finite() && x.abs() > 1e-15 && x.abs() < 1e15);
        let mut checked = 0;
        for operands in inputs::<f32>().into_iter().filter(finite) {
            let [a, b, _] = operands.map(f64::from);
            let result = |what, mode| f64::from(operation(what, mode, operands));
            let left = |what: Operation, r: f64| match what {
                // Both products are exact, and a difference is 0 only where it is.
                Operation::Div => (a - r * b) * b.signum(),
                _ => a - r * r,
            };
            for what in [Operation::Div, Operation::Sqrt] {
                if what == Operation::Sqrt && a < 0.0 {
                    continue;
                }
                let (down, up) = (result(what, Mode::Down), result(what, Mode::Up));
                assert!(left(what, down) >= 0.0 && left(what, up) <= 0.0, "{what:?} {operands:?}");
                let gap = (up as f32).next_down() == down as f32;
                assert!(if left(what, down) == 0.0 { up == down } else { gap }, "{what:?} {operands:?}");
                let zero = if up < 0.0 || (up == 0.0 && down < 0.0) { up } else { down };
                assert_eq!(result(what, Mode::Zero), zero, "{what:?} {operands:?}");
                checked += 1;
            }
        }
        assert!(checked > 10_000, "{checked}");
    }

    /// a b + c in integers: a 48-bit product and a 24-bit addend whose exponents are at most 70 apart.
    #[test]
    fn fused_sums_in_every_direction_in_integers() {
        let parts = |x: f32| {
            let bits = x.to_bits();
            let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, i128::from(bits & 0x7f_ffff));
            let magnitude = if exponent == 0 { fraction } else { fraction | 0x80_0000 };
            (if x < 0.0 { -magnitude } else { magnitude }, exponent.max(1) - 150)
        };
        let mut checked = 0;
        for operands in inputs::<f32>() {
            let [(a, ea), (b, eb), (c, ec)] = operands.map(parts);
            let (product, exponent) = (a * b, ea + eb);
            if operands.iter().any(|x| !x.is_finite()) || (exponent - ec).abs() > 70 {
                continue;
            }
            let least = exponent.min(ec);
            let sum = (product << (exponent - least)) + (c << (ec - least));
            if sum == 0 {
                continue;
            }
            for mode in Mode::ALL {
                let expected = round(sum, least, mode);
                equal(operation(Operation::Fma, mode, operands), expected, Operation::Fma, mode, operands);
            }
            checked += 1;
        }
        assert!(checked > 10_000, "{checked}");
    }

    /// `sum` times 2 to the power `exponent` in f32, by shifting.
    fn round(sum: i128, exponent: i32, mode: Mode) -> f32 {
        let (negative, magnitude) = (sum < 0, sum.unsigned_abs());
        let length = 128 - magnitude.leading_zeros() as i32;
        let unit = (exponent + length - 24).max(-149);
        let drop = unit - exponent;
        let (mut kept, rest, half) = match drop {
            ..=0 => (magnitude << -drop, 0, 1),
            1..=127 => (magnitude >> drop, magnitude & ((1 << drop) - 1), 1 << (drop - 1)),
            _ => (0, 1, 2),
        };
        let up = match mode {
            Mode::Nearest => rest > half || (rest == half && kept & 1 == 1),
            Mode::Zero => false,
            Mode::Up => rest > 0 && !negative,
            Mode::Down => rest > 0 && negative,
        };
        kept += u128::from(up);
        let towards_zero = match mode {
            Mode::Nearest => false,
            Mode::Zero => true,
            Mode::Up => negative,
            Mode::Down => !negative,
        };
        // Exact: at most 24 bits.
        let value = kept as f64 * 2_f64.powi(unit);
        let value = if value > f64::from(f32::MAX) {
            if towards_zero { f32::MAX } else { f32::INFINITY }
        } else {
            value as f32
        };
        if negative { -value } else { value }
    }

    /// The exact products of f32 are numbers of f64; 2^100 times as large, they round without being too small.
    #[test]
    fn what_is_tiny_after_rounding_is_flushed() {
        let mut rounded_up = 0;
        for operands in inputs::<f32>() {
            let [a, b, _] = operands.map(|x| f64::from(flushed(x)));
            let (exact, smallest) = (a * b, f64::from(f32::MIN_POSITIVE));
            for mode in Mode::ALL {
                let rounded = directed(exact, mode);
                let tiny = exact.abs() < smallest
                    && f64::from(directed(exact * 2_f64.powi(100), mode)).abs() < smallest * 2_f64.powi(100);
                let expected = if tiny { 0.0_f32.copysign(exact as f32) } else { rounded };
                let got = flushing_operation(Operation::Mul, mode, operands);
                equal(got, expected, Operation::Mul, mode, operands);
                rounded_up += u32::from(rounded.abs() == f32::MIN_POSITIVE && expected == 0.0);
            }
        }
        assert!(rounded_up >= 10, "{rounded_up}");
        // As an H200 has it. (1 + e) (1 - e) 2^-126 rounds to 2^-126 in 24 bits, (1 - e / 2) 2^-126 is a number of 24 bits.
        let close = [f32::MIN_POSITIVE.next_up(), 1.0 - f32::EPSILON, 0.0];
        assert_eq!(flushing_operation(Operation::Mul, Mode::Nearest, close), f32::MIN_POSITIVE);
        assert_eq!(flushing_operation(Operation::Fma, Mode::Up, close), f32::MIN_POSITIVE);
        assert_eq!(flushing_operation(Operation::Mul, Mode::Zero, close), 0.0);
        let below = [f32::MIN_POSITIVE, 1.0 - f32::EPSILON / 2.0, 0.0];
        assert_eq!(flushing_operation(Operation::Mul, Mode::Nearest, below), 0.0);
        assert_eq!(operation(Operation::Mul, Mode::Nearest, below), f32::MIN_POSITIVE);
    }

    #[test]
    fn integers_convert_as_rust_does() {
        let mut random = crate::inputs::Random::new(3);
        for _ in 0..20_000 {
            let value = random.bits() as i64 >> (random.bits() % 64);
            assert_eq!(round_integer::<f32>(value.into(), Mode::Nearest), value as f32);
            assert_eq!(round_integer::<f64>(value.into(), Mode::Nearest), value as f64);
            let down: f64 = round_integer(value.into(), Mode::Down);
            let up: f64 = round_integer(value.into(), Mode::Up);
            let enclosed = down as i128 <= i128::from(value) && up as i128 >= i128::from(value);
            assert!(enclosed && up <= down.next_up());
            let number: f64 = random.any();
            let expected = (!number.is_nan()).then_some(i128::from(number as i32));
            assert_eq!(to_integer(number, Mode::Zero, i32::MIN.into(), i32::MAX.into()), expected);
        }
        assert_eq!(to_integer(-0.5, Mode::Down, 0, 255), Some(0));
        assert_eq!(to_integer(2.5, Mode::Nearest, 0, 255), Some(2));
        assert_eq!(to_integer(2.1, Mode::Up, 0, 255), Some(3));
    }
}

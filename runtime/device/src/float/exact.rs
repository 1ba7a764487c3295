//! Floating-point arithmetic with every rounding, by integers: what the host has in place of the GPU's instructions.

use core::marker::PhantomData;

/// How to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even.
    Nearest,
    /// To nearest, ties away from zero.
    Away,
    /// Towards zero.
    Zero,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
}

/// What is done to the operands and the result of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    flush: bool,
    clamp: Clamp,
    finite: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clamp {
    None,
    /// Clamps to 0 to 1; NaN becomes 0.
    Saturate,
    /// Clamps to at least 0; NaN stays.
    Relu,
}

impl Form {
    /// Nothing.
    pub const PLAIN: Self = Self { flush: false, clamp: Clamp::None, finite: false };
    /// `.ftz`
    pub const FLUSH: Self = Self { flush: true, clamp: Clamp::None, finite: false };
    /// `.sat`
    pub const SATURATE: Self = Self { flush: false, clamp: Clamp::Saturate, finite: false };
    /// `.ftz.sat`
    pub const FLUSH_SATURATE: Self = Self { flush: true, clamp: Clamp::Saturate, finite: false };
    /// `.relu`
    pub const RELU: Self = Self { flush: false, clamp: Clamp::Relu, finite: false };
    /// `.ftz.relu`
    #[cfg_attr(not(feature = "half"), expect(dead_code, reason = "the crate half is left out"))]
    pub const FLUSH_RELU: Self = Self { flush: true, clamp: Clamp::Relu, finite: false };

    /// `.satfinite`
    pub const FINITE: Self = Self { flush: false, clamp: Clamp::None, finite: true };
    /// `.relu.satfinite`
    #[cfg_attr(not(feature = "half"), expect(dead_code, reason = "the crate half is left out"))]
    pub const RELU_FINITE: Self = Self { flush: false, clamp: Clamp::Relu, finite: true };

    /// The operand as the operation sees it: flushed or not.
    pub fn operand<T: Format>(self, value: T) -> T {
        if self.flush && is_below_normal(value) { signed(is_negative(value), 0) } else { value }
    }

    /// The result of an operation. The GPU flushes by the result that unlimited exponents would give: if that is below
    /// the smallest normal number after rounding to the format's precision, the result is zero.
    pub fn apply<T: Format>(self, result: T, unlimited: impl FnOnce() -> Wide<T>) -> T {
        let tiny = self.flush && unlimited().is_tiny();
        self.result(if tiny { signed(is_negative(result), 0) } else { result })
    }

    /// The result, clamped and made finite as the form says.
    pub fn result<T: Format>(self, result: T) -> T {
        let result = self.operand(result);
        let nan = matches!(value(result), Value::Nan);
        let result = match value(result) {
            Value::Infinite(negative) if self.finite => largest(negative),
            _ => result,
        };
        match self.clamp {
            Clamp::Saturate if nan || is_negative(result) => T::of(0),
            Clamp::Saturate => T::of(result.bits().min(one::<T>().bits())),
            Clamp::Relu if !nan && is_negative(result) => T::of(0),
            _ => result,
        }
    }
}

/// A binary format of IEEE 754.
pub trait Format: Copy {
    /// Bits of the fraction.
    const FRACTION: u32;
    /// Bits of the exponent.
    const EXPONENT: u32;

    /// The bits as they are in memory.
    fn bits(self) -> u64;

    /// The number with these bits.
    fn of(bits: u64) -> Self;
}

/// A format of the same precision in which no result of two or three numbers of `T` is too small or too large.
#[derive(Clone, Copy)]
pub struct Wide<T>(u64, PhantomData<T>);

impl<T: Format> Format for Wide<T> {
    const FRACTION: u32 = T::FRACTION;
    const EXPONENT: u32 = T::EXPONENT + 3;

    fn bits(self) -> u64 {
        self.0
    }

    fn of(bits: u64) -> Self {
        Self(bits, PhantomData)
    }
}

impl<T: Format> Wide<T> {
    /// Whether the number is below the smallest normal number of `T`.
    fn is_tiny(self) -> bool {
        let bias = |exponent: u32| (1_u64 << (exponent - 1)) - 1;
        // The exponent's field of that number is 1 in `T`.
        let smallest = (1 + bias(Self::EXPONENT) - bias(T::EXPONENT)) << T::FRACTION;
        self.0 & !(1 << (Self::FRACTION + Self::EXPONENT)) < smallest
    }
}

/// The same number in the wide format.
pub fn wide<T: Format>(value: T) -> Wide<T> {
    convert(value, Round::Zero)
}

macro_rules! formats {
    ($($ty:ty: $fraction:literal $exponent:literal, |$value:ident| $bits:expr, |$from:ident| $of:expr;)*) => {$(
        impl Format for $ty {
            const FRACTION: u32 = $fraction;
            const EXPONENT: u32 = $exponent;
            fn bits(self) -> u64 {
                let $value = self;
                u64::from($bits)
            }
            fn of($from: u64) -> Self {
                $of
            }
        }
    )*};
}

/// The bits of a `f16`.
#[cfg_attr(not(feature = "half"), expect(dead_code, reason = "the crate half is left out"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half(pub u16);

/// The bits of a `bf16`.
#[cfg_attr(not(feature = "half"), expect(dead_code, reason = "the crate half is left out"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brain(pub u16);

/// The bits of a `tf32`, as those of an `f32` whose lower 13 are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorFloat(pub u32);

#[expect(clippy::cast_possible_truncation, reason = "formats make their own bits only")]
mod formats {
    use super::{Brain, Format, Half, TensorFloat};

    formats! {
        f32: 23 8, |value| value.to_bits(), |bits| Self::from_bits(bits as u32);
        f64: 52 11, |value| value.to_bits(), |bits| Self::from_bits(bits);
        Half: 10 5, |value| value.0, |bits| Self(bits as u16);
        Brain: 7 8, |value| value.0, |bits| Self(bits as u16);
        TensorFloat: 10 8, |value| value.0 >> 13, |bits| Self((bits as u32) << 13);
    }
}

/// A number without limits: `mantissa * 2^exponent`, and a little more in magnitude if `inexact`.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Whether the number is negative.
    pub negative: bool,
    /// The exponent of the mantissa's lowest bit.
    pub exponent: i32,
    /// The mantissa; zero only if the number is zero.
    pub mantissa: u128,
    /// Whether bits were lost; then the mantissa has far more bits than any format.
    pub inexact: bool,
}

/// What a format's value is.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// Not a number.
    Nan,
    /// Negative or not.
    Infinite(bool),
    /// A finite number.
    Finite(Number),
}

/// Takes a value of a format apart.
pub fn value<T: Format>(value: T) -> Value {
    let bits = value.bits();
    let negative = is_negative(value);
    let fraction = bits & ((1 << T::FRACTION) - 1);
    let exponent = (bits >> T::FRACTION & ((1 << T::EXPONENT) - 1)).cast_signed() as i32;
    match exponent {
        _ if exponent == (1 << T::EXPONENT) - 1 && fraction != 0 => Value::Nan,
        _ if exponent == (1 << T::EXPONENT) - 1 => Value::Infinite(negative),
        0 => Value::Finite(Number { negative, exponent: lowest::<T>(), mantissa: fraction.into(), inexact: false }),
        _ => {
            let mantissa = u128::from(fraction | 1 << T::FRACTION);
            Value::Finite(Number { negative, exponent: lowest::<T>() + exponent - 1, mantissa, inexact: false })
        }
    }
}

/// The exponent of the lowest bit of a subnormal number.
fn lowest<T: Format>() -> i32 {
    2 - (1 << (T::EXPONENT - 1)) - T::FRACTION.cast_signed()
}

fn is_negative<T: Format>(value: T) -> bool {
    value.bits() >> (T::FRACTION + T::EXPONENT) & 1 != 0
}

/// Whether a value is zero or subnormal.
fn is_below_normal<T: Format>(value: T) -> bool {
    value.bits() >> T::FRACTION & ((1 << T::EXPONENT) - 1) == 0
}

fn one<T: Format>() -> T {
    T::of(((1 << (T::EXPONENT - 1)) - 1) << T::FRACTION)
}

/// The GPU's NaN; of `f64` the usual one.
pub fn nan<T: Format>() -> T {
    let bits = (1 << (T::EXPONENT + T::FRACTION)) - 1;
    if T::FRACTION < 52 { T::of(bits) } else { T::of(bits & !((1 << (T::FRACTION - 1)) - 1)) }
}

fn signed<T: Format>(negative: bool, magnitude: u64) -> T {
    T::of(u64::from(negative) << (T::FRACTION + T::EXPONENT) | magnitude)
}

fn infinite<T: Format>(negative: bool) -> T {
    signed(negative, ((1 << T::EXPONENT) - 1) << T::FRACTION)
}

fn largest<T: Format>(negative: bool) -> T {
    signed(negative, (((1 << T::EXPONENT) - 1) << T::FRACTION) - 1)
}

fn zero(negative: bool) -> Number {
    Number { negative, exponent: 0, mantissa: 0, inexact: false }
}

/// The mantissa with everything below bit `shift` rounded away.
pub fn round_mantissa(number: Number, shift: i32, round: Round) -> u128 {
    let Number { negative, mantissa, inexact, .. } = number;
    let Ok(shift) = u32::try_from(shift) else { return mantissa << shift.unsigned_abs() };
    let bit = |at: u32| at < 128 && mantissa >> at & 1 != 0;
    let below = |at: u32| if at >= 128 { mantissa != 0 } else { mantissa & ((1 << at) - 1) != 0 };
    let kept = mantissa.checked_shr(shift).unwrap_or(0);
    let half = shift > 0 && bit(shift - 1);
    let rest = inexact || shift > 1 && below(shift - 1);
    let up = match round {
        Round::Nearest => half && (rest || kept & 1 != 0),
        Round::Away => half,
        Round::Zero => false,
        Round::Up => !negative && (half || rest),
        Round::Down => negative && (half || rest),
    };
    kept + u128::from(up)
}

/// The number in a format.
pub fn round<T: Format>(number: Number, round: Round) -> T {
    let Number { negative, exponent, mantissa, .. } = number;
    if mantissa == 0 {
        return signed(negative, 0);
    }
    let top = exponent + 127 - mantissa.leading_zeros().cast_signed();
    // The exponent of the last bit that is kept.
    let last = (top - T::FRACTION.cast_signed()).max(lowest::<T>());
    let kept = round_mantissa(number, last - exponent, round);
    // A normal number's leading bit adds one to the exponent's field, and so does a carry.
    let field = u128::from((last - lowest::<T>()).unsigned_abs()) << T::FRACTION;
    let infinity = ((1 << T::EXPONENT) - 1) << T::FRACTION;
    match u64::try_from(kept + field) {
        Ok(bits) if bits < infinity => signed(negative, bits),
        _ => match round {
            Round::Nearest | Round::Away => infinite(negative),
            Round::Up if !negative => infinite(false),
            Round::Down if negative => infinite(true),
            _ => largest(negative),
        },
    }
}

impl Number {
    /// The same number with bit 125 as the mantissa's highest; not for zero.
    fn widen(self) -> Self {
        let shift = self.mantissa.leading_zeros() - 2;
        Self { mantissa: self.mantissa << shift, exponent: self.exponent - shift.cast_signed(), ..self }
    }

    fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            exponent: self.exponent + other.exponent,
            mantissa: self.mantissa * other.mantissa,
            inexact: false,
        }
    }

    fn plus(self, other: Self, round: Round) -> Self {
        match (self.mantissa, other.mantissa) {
            (0, 0) if self.negative == other.negative => return self,
            (0, 0) => return zero(round == Round::Down),
            (0, _) => return other,
            (_, 0) => return self,
            _ => {}
        }
        let (mut large, mut small) = (self.widen(), other.widen());
        if (small.exponent, small.mantissa) > (large.exponent, large.mantissa) {
            core::mem::swap(&mut large, &mut small);
        }
        // Operands have at most 106 bits, so that nothing is lost where leading bits may cancel.
        let distance = large.exponent.abs_diff(small.exponent);
        let shifted = small.mantissa.checked_shr(distance).unwrap_or(0);
        let inexact = shifted.checked_shl(distance).unwrap_or(0) != small.mantissa;
        let mantissa = if large.negative == small.negative {
            large.mantissa + shifted
        } else {
            large.mantissa - shifted - u128::from(inexact)
        };
        if mantissa == 0 { zero(round == Round::Down) } else { Self { mantissa, inexact, ..large } }
    }
}

/// `a + b`
pub fn add<T: Format>(a: T, b: T, mode: Round) -> T {
    match (value(a), value(b)) {
        (Value::Nan, _) | (_, Value::Nan) => nan(),
        (Value::Infinite(a), Value::Infinite(b)) if a != b => nan(),
        (Value::Infinite(negative), _) | (_, Value::Infinite(negative)) => infinite(negative),
        (Value::Finite(a), Value::Finite(b)) => round(a.plus(b, mode), mode),
    }
}

/// `a - b`
pub fn sub<T: Format>(a: T, b: T, mode: Round) -> T {
    let sign = 1 << (T::FRACTION + T::EXPONENT);
    add(a, T::of(b.bits() ^ sign), mode)
}

/// `a * b`
pub fn mul<T: Format>(a: T, b: T, mode: Round) -> T {
    match product(value(a), value(b)) {
        Value::Nan => nan(),
        Value::Infinite(negative) => infinite(negative),
        Value::Finite(product) => round(product, mode),
    }
}

fn product(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite(a), Value::Infinite(b)) => Value::Infinite(a != b),
        (Value::Infinite(_), Value::Finite(b)) | (Value::Finite(b), Value::Infinite(_)) if b.mantissa == 0 => {
            Value::Nan
        }
        (Value::Infinite(a), Value::Finite(Number { negative: b, .. }))
        | (Value::Finite(Number { negative: b, .. }), Value::Infinite(a)) => Value::Infinite(a != b),
        (Value::Finite(a), Value::Finite(b)) => Value::Finite(a.times(b)),
    }
}

/// `a * b + c`, rounded once
pub fn fma<T: Format>(a: T, b: T, c: T, mode: Round) -> T {
    match (product(value(a), value(b)), value(c)) {
        (Value::Nan, _) | (_, Value::Nan) => nan(),
        (Value::Infinite(a), Value::Infinite(b)) if a != b => nan(),
        (Value::Infinite(negative), _) | (_, Value::Infinite(negative)) => infinite(negative),
        (Value::Finite(a), Value::Finite(b)) => round(a.plus(b, mode), mode),
    }
}

/// `a / b`
pub fn div<T: Format>(a: T, b: T, mode: Round) -> T {
    match (value(a), value(b)) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite(_), Value::Infinite(_)) => nan(),
        (Value::Infinite(a), Value::Finite(b)) => infinite(a != b.negative),
        (Value::Finite(a), Value::Infinite(b)) => round(zero(a.negative != b), mode),
        (Value::Finite(a), Value::Finite(b)) if b.mantissa == 0 => match a.mantissa {
            0 => nan(),
            _ => infinite(a.negative != b.negative),
        },
        (Value::Finite(a), Value::Finite(b)) if a.mantissa == 0 => round(zero(a.negative != b.negative), mode),
        (Value::Finite(a), Value::Finite(b)) => {
            // 126 bits by at most 53: the quotient has over 70.
            let a = a.widen();
            let number = Number {
                negative: a.negative != b.negative,
                exponent: a.exponent - b.exponent,
                mantissa: a.mantissa / b.mantissa,
                inexact: a.mantissa % b.mantissa != 0,
            };
            round(number, mode)
        }
    }
}

/// `1 / a`
pub fn rcp<T: Format>(a: T, mode: Round) -> T {
    div(one(), a, mode)
}

/// The square root of `a`
pub fn sqrt<T: Format>(a: T, mode: Round) -> T {
    match value(a) {
        Value::Finite(a) if a.mantissa == 0 => round(a, mode),
        Value::Infinite(false) => infinite(false),
        Value::Finite(a) if !a.negative => {
            let mut a = a.widen();
            if a.exponent % 2 != 0 {
                a = Number { mantissa: a.mantissa << 1, exponent: a.exponent - 1, ..a };
            }
            let mantissa = a.mantissa.isqrt();
            let inexact = mantissa * mantissa != a.mantissa;
            round(Number { mantissa, inexact, exponent: a.exponent / 2, ..a }, mode)
        }
        _ => nan(),
    }
}

/// Converts from one format to another.
pub fn convert<T: Format, U: Format>(a: T, mode: Round) -> U {
    match value(a) {
        Value::Nan => nan(),
        Value::Infinite(negative) => infinite(negative),
        Value::Finite(number) => round(number, mode),
    }
}

/// Converts from an integer.
pub fn from_integer<T: Format>(value: i128, mode: Round) -> T {
    round(Number { negative: value < 0, exponent: 0, mantissa: value.unsigned_abs(), inexact: false }, mode)
}

/// Converts to an integer from `min` to `max`; beyond them, to the nearest of the two. `None` for NaN.
pub fn to_integer<T: Format>(a: T, mode: Round, min: i128, max: i128) -> Option<i128> {
    match value(a) {
        Value::Nan => None,
        Value::Infinite(negative) => Some(if negative { min } else { max }),
        // Beyond all integers here.
        Value::Finite(number) if number.mantissa != 0 && number.exponent > 64 => {
            Some(if number.negative { min } else { max })
        }
        Value::Finite(number) => {
            let magnitude = round_mantissa(number, -number.exponent, mode).cast_signed();
            Some(if number.negative { -magnitude } else { magnitude }.clamp(min, max))
        }
    }
}

/// Rounds to a whole number.
pub fn integral<T: Format>(a: T, mode: Round) -> T {
    match value(a) {
        Value::Nan => nan(),
        Value::Finite(number) if number.exponent < 0 => {
            round(Number { mantissa: round_mantissa(number, -number.exponent, mode), exponent: 0, ..number }, mode)
        }
        _ => a,
    }
}

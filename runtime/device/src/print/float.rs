//! The shortest text that reads back as the same number, as `{}`, `{:?}` and `{:e}` print floats.
//!
//! The digits come from the crate ryu: on `core`'s printing of floats ptxas spends minutes in a module of many kernels.

use super::arena::Writer;
use super::pad::{Align, Layout};

/// How a float is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `{}`: never with an exponent.
    Display,
    /// `{:?}`: with a point, or with an exponent where that is shorter.
    Debug,
    /// `{:e}`: with an exponent, and a small letter.
    LowerExp,
    /// `{:E}`: with an exponent, and a capital letter.
    UpperExp,
}

/// A float taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    negative: bool,
    kind: Kind,
    /// Whether `{:?}` writes it with an exponent: below 1e-4, and from 1e16 on.
    extreme: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Nan,
    Infinite,
    Finite(Digits),
}

/// 0.`digits` times ten to the power of `point`.
#[derive(Clone, Copy, Debug)]
struct Digits {
    digits: [u8; 17],
    len: usize,
    point: isize,
}

macro_rules! number {
    ($float:ident, $bits:ident, $format:path) => {
        impl From<$float> for Number {
            #[inline(never)]
            fn from(value: $float) -> Self {
                let magnitude = value.abs();
                let kind = if value.is_nan() {
                    Kind::Nan
                } else if value.is_infinite() {
                    Kind::Infinite
                } else {
                    let mut text = [0; 24];
                    // SAFETY: the number is finite, and 24 bytes are enough for each (ryu's documentation).
                    let len = unsafe { $format(magnitude, text.as_mut_ptr()) };
                    let mut digits = Digits::read(text.get(..len).unwrap_or_default());
                    let mantissa = magnitude.to_bits() & ((1 << ($float::MANTISSA_DIGITS - 1)) - 1);
                    let exponent = (magnitude.to_bits() >> ($float::MANTISSA_DIGITS - 1)) as i32;
                    let hidden: $bits = if exponent == 0 { 0 } else { 1 << ($float::MANTISSA_DIGITS - 1) };
                    digits.round_half_up(
                        (mantissa | hidden).into(),
                        exponent.max(1) + $float::MIN_EXP - 1 - $float::MANTISSA_DIGITS as i32,
                    );
                    Kind::Finite(digits)
                };
                let extreme = magnitude >= 1e16 || (magnitude != 0.0 && magnitude < 1e-4);
                Self { negative: value.is_sign_negative() && !value.is_nan(), kind, extreme }
            }
        }
    };
}
number!(f32, u32, ryu::raw::format32);
number!(f64, u64, ryu::raw::format64);

impl Digits {
    /// Parses text such as `0.00123`, `12.0` and `1.5e-7`.
    #[inline(never)]
    fn read(text: &[u8]) -> Self {
        let mut found = Self { digits: [b'0'; 17], len: 0, point: 0 };
        let (mut fraction, mut exponent, mut in_exponent, mut down) = (false, 0, false, false);
        // Up to the last digit that is not zero.
        let mut significant = 0;
        for &byte in text {
            match byte {
                b'.' => fraction = true,
                b'e' => in_exponent = true,
                b'-' => down = true,
                digit if in_exponent => exponent = exponent * 10 + isize::from(digit - b'0'),
                digit => {
                    found.point += isize::from(!fraction);
                    if digit == b'0' && found.len == 0 {
                        // Before the first digit that counts.
                        found.point -= 1;
                        continue;
                    }
                    if let Some(place) = found.digits.get_mut(found.len) {
                        *place = digit;
                    }
                    found.len += 1;
                    if digit != b'0' {
                        significant = found.len;
                    }
                }
            }
        }
        if significant == 0 {
            return Self { digits: [b'0'; 17], len: 1, point: 1 };
        }
        found.len = significant.min(17);
        found.point += if down { -exponent } else { exponent };
        found
    }

    /// If two texts of the same length are equally near to the number, `mantissa` times two to the power of `exponent`,
    /// ryu takes the one with an even last digit, and `core` the larger. This takes the larger.
    fn round_half_up(&mut self, mantissa: u64, exponent: i32) {
        if mantissa == 0 {
            return;
        }
        let last = self.len - 1;
        let number = self.part(0, self.len).bytes().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        // The middle between this text and the next is `middle` times ten to the power of `power`, and five is its last digit:
        // so both sides have as many factors of two as their exponents say, if they are equal.
        let (middle, power) = (number * 10 + 5, self.point - self.len as isize - 1);
        let odd = mantissa >> mantissa.trailing_zeros();
        if exponent as isize + mantissa.trailing_zeros() as isize != power {
            return;
        }
        let fives = |number: u64| (0..power.unsigned_abs()).try_fold(number, |number, _| number.checked_mul(5));
        let is_middle = if power < 0 { fives(odd) == Some(middle) } else { fives(middle) == Some(odd) };
        if is_middle {
            // ryu's digit is even, so there is no carry.
            if let Some(digit) = self.digits.get_mut(last) {
                *digit += 1;
            }
        }
    }

    /// Digits from `start` to `end`.
    fn part(&self, start: usize, end: usize) -> &str {
        // SAFETY: digits are ASCII.
        unsafe { str::from_utf8_unchecked(self.digits.get(start..end).unwrap_or_default()) }
    }
}

/// A piece of a number.
#[derive(Clone, Copy)]
enum Part<'a> {
    Text(&'a str),
    Zeros(usize),
}

impl Number {
    /// Infinity or NaN. A number with a precision thus needs no search for the shortest digits.
    pub fn not_finite(value: f64) -> Self {
        let kind = if value.is_nan() { Kind::Nan } else { Kind::Infinite };
        Self { negative: value.is_sign_negative() && !value.is_nan(), kind, extreme: false }
    }

    /// Writes the number, padded.
    #[inline(never)]
    pub fn write(&self, out: &mut Writer<'_>, style: Style, layout: &Layout) {
        use Part::{Text, Zeros};
        let mut exponent_text = [0; 5];
        let parts = match &self.kind {
            Kind::Nan => [Text("NaN"), Text(""), Text(""), Text("")],
            Kind::Infinite => [Text("inf"), Text(""), Text(""), Text("")],
            Kind::Finite(digits) => {
                let exponential =
                    matches!(style, Style::LowerExp | Style::UpperExp) || (style == Style::Debug && self.extreme);
                let len = digits.len;
                if exponential {
                    let e = if style == Style::UpperExp { b'E' } else { b'e' };
                    let exponent = exponent(&mut exponent_text, e, digits.point - 1);
                    let point = if len > 1 { "." } else { "" };
                    [Text(digits.part(0, 1)), Text(point), Text(digits.part(1, len)), Text(exponent)]
                } else if digits.point <= 0 {
                    [Text("0."), Zeros(digits.point.unsigned_abs()), Text(digits.part(0, len)), Text("")]
                } else {
                    let point = digits.point.unsigned_abs();
                    if len <= point {
                        let end = if style == Style::Debug { ".0" } else { "" };
                        [Text(digits.part(0, len)), Zeros(point - len), Text(end), Text("")]
                    } else {
                        [Text(digits.part(0, point)), Text("."), Text(digits.part(point, len)), Text("")]
                    }
                }
            }
        };
        let sign = if self.negative {
            "-"
        } else if layout.plus && !matches!(self.kind, Kind::Nan) {
            "+"
        } else {
            ""
        };
        let length = |part: &Part<'_>| match *part {
            Text(text) => text.len(),
            Zeros(count) => count,
        };
        let missing = layout.width.saturating_sub(sign.len() + parts.iter().map(length).sum::<usize>());
        let before = if layout.zero { 0 } else { layout.before(missing, Align::Right) };
        layout.fill(out, before);
        out.push(sign);
        if layout.zero {
            out.repeat("0", missing);
        }
        for part in parts {
            match part {
                Text(text) => out.push(text),
                Zeros(count) => out.repeat("0", count),
            }
        }
        if !layout.zero {
            layout.fill(out, missing - before);
        }
    }
}

/// The exponent as in `e-324`.
fn exponent(text: &mut [u8; 5], letter: u8, value: isize) -> &str {
    let mut len = 0;
    let mut push = |byte| {
        if let Some(place) = text.get_mut(len) {
            *place = byte;
            len += 1;
        }
    };
    push(letter);
    if value < 0 {
        push(b'-');
    }
    let value = value.unsigned_abs();
    // At most 324.
    for power in [100, 10, 1] {
        if value >= power || power == 1 {
            push(b'0' + (value / power % 10) as u8);
        }
    }
    // SAFETY: a letter, a sign and digits.
    unsafe { str::from_utf8_unchecked(text.get(..len).unwrap_or_default()) }
}

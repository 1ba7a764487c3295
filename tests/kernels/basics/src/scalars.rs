//! Arithmetic of every scalar type, and every scalar type as a parameter.

use ptx::prelude::*;

/// For each type: a function of two numbers, and kernels that apply it and that store a parameter.
macro_rules! scalar {
    ($($ty:ident: $apply:ident, $echo:ident, |$a:ident, $b:ident| $compute:expr;)*) => {$(
        pub mod $ty {
            #[inline]
            pub fn compute($a: $ty, $b: $ty) -> $ty {
                $compute
            }
        }

        #[kernel]
        pub fn $apply(a: &[$ty], b: &[$ty], mut out: DisjointSlice<$ty>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = $ty::compute(a[i.get()], b[i.get()]);
            }
        }

        #[kernel]
        pub fn $echo(value: $ty, mut out: DisjointSlice<$ty>) {
            if let Some(out) = out.get_mut(thread::index_1d()) {
                *out = value;
            }
        }
    )*};
}

/// Wrapping arithmetic, shifts, division and what counts bits.
macro_rules! integer {
    ($a:ident, $b:ident) => {{
        let quotient = $a.checked_div($b).unwrap_or(7).wrapping_add($a.checked_rem($b).unwrap_or(3));
        let bits = ($a ^ $b).count_ones() + $a.leading_zeros() + $b.trailing_zeros();
        let sum = $a.wrapping_mul($b).wrapping_add($a).rotate_left(bits % 5);
        let (high, overflow) = $a.overflowing_sub($b);
        let limited = $a.saturating_add($b) ^ high;
        let moved = ($a >> (bits % 7)) ^ ($b << (bits % 3));
        let chosen = if overflow { $a.max($b) } else { $a.min($b) };
        quotient.wrapping_add(sum) ^ limited.wrapping_mul(moved).wrapping_sub(chosen)
    }};
}

scalar! {
    u8: apply_u8, echo_u8, |a, b| integer!(a, b);
    u16: apply_u16, echo_u16, |a, b| integer!(a, b);
    u32: apply_u32, echo_u32, |a, b| integer!(a, b);
    u64: apply_u64, echo_u64, |a, b| integer!(a, b);
    usize: apply_usize, echo_usize, |a, b| integer!(a, b);
    u128: apply_u128, echo_u128, |a, b| integer!(a, b);
    i8: apply_i8, echo_i8, |a, b| integer!(a, b);
    i16: apply_i16, echo_i16, |a, b| integer!(a, b);
    i32: apply_i32, echo_i32, |a, b| integer!(a, b);
    i64: apply_i64, echo_i64, |a, b| integer!(a, b);
    isize: apply_isize, echo_isize, |a, b| integer!(a, b);
    i128: apply_i128, echo_i128, |a, b| integer!(a, b);
    f32: apply_f32, echo_f32, |a, b| (a - b) / (b.abs() + 1.5) + a.max(b) * 0.25 - (a as i32 as f32);
    f64: apply_f64, echo_f64, |a, b| (a - b) / (b.abs() + 1.5) + a.max(b) * 0.25 - (a as i64 as f64);
}

#[kernel]
pub fn echo_bool(value: bool, mut out: DisjointSlice<u8>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if value { 3 } else { 5 };
    }
}

#[kernel]
pub fn echo_char(value: char, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value as u32;
    }
}

/// Conversions between widths, signs and floats.
#[inline]
pub fn convert(x: f64) -> u64 {
    let narrow = x as f32;
    let integers = [x as u8 as u64, x as i16 as u64, narrow as u32 as u64, x as i64 as u64, x as u64];
    let wide = x as i128;
    integers.into_iter().fold(wide as u64 ^ (wide >> 64) as u64, |sum, n| sum.rotate_left(7) ^ n)
        ^ (narrow as f64).to_bits()
        ^ ((x as u64 as u128) as f32).to_bits() as u64
}

#[kernel]
pub fn conversions(x: &[f64], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = convert(x[i.get()]);
    }
}

/// How many quotients and rests of a thread's number of 16 bits are wrong: all dividends are counted up to, so that nothing
/// is divided to know them.
#[kernel]
pub fn wrong_quotients_u16(mut wrong: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let divisor = i.get() as u16;
    let Some(wrong) = wrong.get_mut(i) else { return };
    let (mut quotient, mut rest) = (0_u16, 0_u16);
    for dividend in 0..=u16::MAX {
        if let (Some(is), Some(left)) = (dividend.checked_div(divisor), dividend.checked_rem(divisor)) {
            *wrong += u32::from(is != quotient || left != rest);
        }
        rest += 1;
        if rest == divisor {
            (quotient, rest) = (quotient + 1, 0);
        }
    }
}

/// The same with signs: dividends of both signs up to 32,767, and -32,768.
#[kernel]
pub fn wrong_quotients_i16(mut wrong: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let divisor = i.get() as i16;
    let Some(wrong) = wrong.get_mut(i) else { return };
    let (mut quotient, mut rest) = (0_i32, 0_i32);
    for size in 0..=32_768_i32 {
        let sign = i32::from(divisor.signum());
        for dividend in [size, -size] {
            let Ok(dividend) = i16::try_from(dividend) else { continue };
            if let (Some(is), Some(left)) = (dividend.checked_div(divisor), dividend.checked_rem(divisor)) {
                let of = i32::from(dividend.signum());
                *wrong += u32::from(i32::from(is) != quotient * sign * of || i32::from(left) != rest * of);
            }
        }
        rest += 1;
        if rest == i32::from(divisor).abs() {
            (quotient, rest) = (quotient + 1, 0);
        }
    }
}

/// How many quotients of numbers below 2^21 by a thread's number, which is below 2^23, are wrong: of dividends around
/// multiples, and others.
#[kernel]
pub fn wrong_quotients_of_21_bits(step: u32, mut wrong: DisjointSlice<u32>) {
    const MOST: u32 = (1 << 21) - 1;
    let i = thread::index_1d();
    let divisor = (i.get() as u32).wrapping_mul(step) % 8_388_607 + 1;
    let Some(wrong) = wrong.get_mut(i) else { return };
    for round in 0..64 {
        let multiple = core::hint::black_box((MOST / divisor).saturating_sub(round) * divisor);
        for dividend in [multiple, multiple.wrapping_sub(1), MOST - round, round * 32_771] {
            let dividend = dividend & MOST;
            let quotient = core::hint::black_box(dividend / divisor);
            let product = u64::from(quotient) * u64::from(divisor);
            *wrong += u32::from(product > dividend.into() || u64::from(dividend) - product >= divisor.into());
        }
    }
}

//! Conversions between floats and 128-bit integers, and the exact remainder of floats; on their bits, so that no
//! rounding or flushing mode changes them.

/// `mantissa * 2^exponent` without its fraction, or the largest number if it does not fit.
fn scale(mantissa: u64, exponent: i32) -> u128 {
    let shift = exponent.unsigned_abs();
    let mantissa = u128::from(mantissa);
    if exponent <= 0 {
        mantissa.checked_shr(shift).unwrap_or(0)
    } else if mantissa == 0 || shift <= mantissa.leading_zeros() {
        mantissa.checked_shl(shift).unwrap_or(0)
    } else {
        u128::MAX
    }
}

/// With a sign, or the nearest number that fits.
fn signed(magnitude: u128, negative: bool) -> i128 {
    const LIMIT: u128 = 1 << 127;
    match (negative, magnitude >= LIMIT) {
        (true, true) => i128::MIN,
        (true, false) => (magnitude as i128).wrapping_neg(),
        (false, true) => i128::MAX,
        (false, false) => magnitude as i128,
    }
}

/// An integer above 2^64 as 64 bits and the power of two they are multiplied by. The lowest bit stands for all that
/// were cut off, so that rounding the 64 bits rounds the whole.
fn upper_bits(value: u128) -> (u64, u32) {
    let shift = value.leading_zeros();
    let value = value.wrapping_shl(shift);
    let cut_off = value as u64 != 0;
    ((value >> 64) as u64 | u64::from(cut_off), 64_u32.wrapping_sub(shift))
}

macro_rules! float {
    (
        $float:ident, $bits:ident, $mantissa_bits:literal, $from_unsigned:ident, $from_signed:ident,
        $to_unsigned:ident, $to_signed:ident, $remainder:ident
    ) => {
        /// As Rust's `as`: to the nearest, ties to even.
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        pub extern "C" fn $from_unsigned(value: u128) -> $float {
            if value <= u128::from(u64::MAX) {
                return value as u64 as $float;
            }
            let (upper, exponent) = upper_bits(value);
            // Exact: a multiplication by a power of two, infinite where the value is too large.
            let power = 1_u64.wrapping_shl(exponent.wrapping_sub(1)) as $float;
            upper as $float * power * 2.0
        }

        /// As Rust's `as`: to the nearest, ties to even.
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        pub extern "C" fn $from_signed(value: i128) -> $float {
            let magnitude = $from_unsigned(value.unsigned_abs());
            if value < 0 { -magnitude } else { magnitude }
        }

        /// As Rust's `as`: towards zero; the nearest number where it does not fit; 0 for NaN.
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        pub extern "C" fn $to_unsigned(value: $float) -> u128 {
            // Also false for NaN.
            if value >= 1.0 { magnitude::$float(value) } else { 0 }
        }

        /// As Rust's `as`: towards zero; the nearest number where it does not fit; 0 for NaN.
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        pub extern "C" fn $to_signed(value: $float) -> i128 {
            if value.is_nan() { 0 } else { signed(magnitude::$float(value), value.is_sign_negative()) }
        }

        /// As Rust's `%`: exact, with the sign of `a`.
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        pub extern "C" fn $remainder(a: $float, b: $float) -> $float {
            const ONE: u64 = 1 << $mantissa_bits;
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            let (sign, a, b) = (a.to_bits() & SIGN, a.to_bits() & !SIGN, b.to_bits() & !SIGN);
            let infinity = $float::INFINITY.to_bits();
            if b == 0 || a >= infinity || b > infinity {
                return $float::NAN;
            }
            if a < b {
                return $float::from_bits(sign | a);
            }
            // Mantissa and biased exponent; a subnormal number has the exponent 1 and no leading one.
            let split = |bits: $bits| match (bits >> $mantissa_bits, u64::from(bits) % ONE) {
                (0, mantissa) => (mantissa, 1),
                (exponent, mantissa) => (mantissa | ONE, exponent as u32),
            };
            let ((mut rest, mut exponent), (divisor, lowest)) = (split(a), split(b));
            rest = rest.checked_rem(divisor).unwrap_or(0);
            // As many bits of the quotient at a time as fit.
            while exponent > lowest && rest != 0 {
                let shift = exponent.wrapping_sub(lowest).min(63 - $mantissa_bits);
                rest = rest.wrapping_shl(shift).checked_rem(divisor).unwrap_or(0);
                exponent = exponent.wrapping_sub(shift);
            }
            if rest == 0 {
                return $float::from_bits(sign);
            }
            let shift = rest.leading_zeros().wrapping_sub(63 - $mantissa_bits).min(lowest.wrapping_sub(1));
            let mantissa = rest.wrapping_shl(shift);
            // Without a leading one it is subnormal: its exponent field is 0.
            let exponent = if mantissa >= ONE { lowest.wrapping_sub(shift) } else { 0 };
            $float::from_bits(sign | (exponent as $bits).wrapping_shl($mantissa_bits) | (mantissa % ONE) as $bits)
        }
    };
}

/// The absolute value without its fraction.
mod magnitude {
    pub(super) fn f32(value: f32) -> u128 {
        let bits = value.to_bits();
        let exponent = (bits >> 23) as u8;
        super::scale(u64::from((bits % (1 << 23)) | (1 << 23)), i32::from(exponent).wrapping_sub(150))
    }

    pub(super) fn f64(value: f64) -> u128 {
        let bits = value.to_bits();
        let exponent = (bits >> 52) as i32 & 0x7ff;
        super::scale((bits % (1 << 52)) | (1 << 52), exponent.wrapping_sub(1075))
    }
}

float!(f32, u32, 23, __floatuntisf, __floattisf, __fixunssfti, __fixsfti, fmodf);
float!(f64, u64, 52, __floatuntidf, __floattidf, __fixunsdfti, __fixdfti, fmod);

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    /// Numbers of every length, and those where rounding is decided by the last bits.
    fn integers() -> Vec<u128> {
        let mut numbers = Vec::new();
        for bit in 0..128 {
            let power = 1_u128 << bit;
            numbers.extend([power - 1, power, power + 1, !power]);
            for last in [23, 24, 25, 52, 53, 54] {
                let half = power >> last;
                numbers.extend([
                    power | half,
                    power | half | 1,
                    (power | half).wrapping_sub(1),
                    power | half | half << 1,
                ]);
            }
        }
        numbers.extend(random().map(|bits| u128::from(bits) << 64 | u128::from(bits.rotate_left(17))));
        numbers
    }

    fn random() -> impl Iterator<Item = u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        (0..3000).map(move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
    }

    fn doubles() -> Vec<f64> {
        let mut numbers =
            std::vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX];
        numbers.extend((-1074..1024).map(|e| 2_f64.powi(e)));
        numbers.extend(
            (0..140).flat_map(|e| [2_f64.powi(e) * 1.75, -(2_f64.powi(e)) * 1.000_000_1, 2_f64.powi(e).next_down()]),
        );
        numbers.extend(random().map(f64::from_bits));
        numbers
    }

    fn singles() -> Vec<f32> {
        let mut numbers =
            std::vec![0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1e-45, f32::MAX];
        numbers.extend((-149..128).map(|e| 2_f32.powi(e)));
        numbers.extend(
            (0..128).flat_map(|e| [2_f32.powi(e) * 1.75, -(2_f32.powi(e)) * 1.0001, 2_f32.powi(e).next_down()]),
        );
        numbers.extend(random().map(|bits| f32::from_bits(bits as u32)));
        numbers
    }

    #[test]
    fn integers_round_as_on_the_host() {
        for n in integers() {
            assert_eq!(__floatuntisf(n).to_bits(), (n as f32).to_bits(), "{n:#x}");
            assert_eq!(__floatuntidf(n).to_bits(), (n as f64).to_bits(), "{n:#x}");
            let n = n as i128;
            assert_eq!(__floattisf(n).to_bits(), (n as f32).to_bits(), "{n:#x}");
            assert_eq!(__floattidf(n).to_bits(), (n as f64).to_bits(), "{n:#x}");
        }
    }

    #[test]
    fn floats_are_cut_as_on_the_host() {
        for x in doubles() {
            assert_eq!((__fixunsdfti(x), __fixdfti(x)), (x as u128, x as i128), "{x:e}");
        }
        for x in singles() {
            assert_eq!((__fixunssfti(x), __fixsfti(x)), (x as u128, x as i128), "{x:e}");
        }
    }

    #[test]
    fn remainders_are_those_of_the_host() {
        for a in doubles().into_iter().step_by(3) {
            for b in doubles().into_iter().step_by(5) {
                let (ours, host) = (fmod(a, b), a % b);
                assert!(
                    ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(),
                    "{a:e} % {b:e}: {ours:e} {host:e}"
                );
            }
        }
        for a in singles().into_iter().step_by(3) {
            for b in singles().into_iter().step_by(2) {
                let (ours, host) = (fmodf(a, b), a % b);
                assert!(
                    ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(),
                    "{a:e} % {b:e}: {ours:e} {host:e}"
                );
            }
        }
    }
}

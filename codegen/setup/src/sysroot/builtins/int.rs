//! Division of 128-bit integers by multiplication with a reciprocal of 64 bits: LLVM alone would take one step a bit.
//!
//! The reciprocal depends on the divisor alone, and nothing in it can go wrong, so that LLVM computes it before a loop that
//! divides by one number again and again, as powers modulo a number do.

/// `floor((2^128 - 1) / divisor) - 2^64`, for a divisor of at least 2^63 (Möller and Granlund, "Improved division by invariant
/// integers", algorithm 2, with a division of 32 bits in place of the table).
fn reciprocal(divisor: u64) -> u64 {
    let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    // The highest bit is set in any case; so the compiler knows it, too.
    let top = (divisor >> 55) as u32 | 256;
    let v0 = u64::from(((1_u32 << 19) - 3 * (1 << 8)).checked_div(top).unwrap_or(0));
    let d40 = (divisor >> 24).wrapping_add(1);
    let v1 = (v0 << 11).wrapping_sub(v0.wrapping_mul(v0).wrapping_mul(d40) >> 40).wrapping_sub(1);
    let v2 = (v1 << 13).wrapping_add(v1.wrapping_mul((1_u64 << 60).wrapping_sub(v1.wrapping_mul(d40))) >> 47);
    let odd = divisor & 1;
    let d63 = (divisor >> 1).wrapping_add(odd);
    let error = ((v2 >> 1) & odd.wrapping_neg()).wrapping_sub(v2.wrapping_mul(d63));
    let v3 = (v2 << 31).wrapping_add(high(v2, error) >> 1);
    let product = (u128::from(v3) * u128::from(divisor)).wrapping_add(u128::from(divisor));
    v3.wrapping_sub((product >> 64) as u64).wrapping_sub(divisor)
}

/// A divisor, shifted so that its highest bit is set, and its reciprocal.
struct Divisor {
    shift: u32,
    shifted: u64,
    reciprocal: u64,
}

impl Divisor {
    fn new(divisor: u64) -> Self {
        let shift = divisor.leading_zeros();
        let shifted = divisor.wrapping_shl(shift);
        Self { shift, shifted, reciprocal: reciprocal(shifted) }
    }

    /// Quotient and remainder of `high * 2^64 + low` by the divisor, which is larger than `high` (algorithm 4).
    fn divide(&self, high: u64, low: u64) -> (u64, u64) {
        let dividend = ((u128::from(high) << 64) | u128::from(low)).wrapping_shl(self.shift);
        let (high, low) = ((dividend >> 64) as u64, dividend as u64);
        let estimate = (u128::from(self.reciprocal) * u128::from(high)).wrapping_add(dividend);
        let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.shifted));
        if rest > estimate as u64 {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.shifted);
        }
        if rest >= self.shifted {
            quotient = quotient.wrapping_add(1);
            rest = rest.wrapping_sub(self.shifted);
        }
        (quotient, rest.wrapping_shr(self.shift))
    }
}

/// Quotient and remainder.
#[inline]
fn divide_by_64(a: u128, b: u64) -> (u128, u128) {
    let (a_high, a_low) = ((a >> 64) as u64, a as u64);
    let divisor = Divisor::new(b);
    // Mostly the divisor is the larger one: products modulo a number are below its square.
    let (high, rest) = if a_high < b { (0, a_high) } else { divisor.divide(0, a_high) };
    let (low, rest) = divisor.divide(rest, a_low);
    (u128::from(high) << 64 | u128::from(low), u128::from(rest))
}

/// `a / b`, where `b` is below 2^64. It is inlined, so that the reciprocal of what a loop divides by is computed before it.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
#[inline]
pub extern "C" fn __udivti3_by_u64(a: u128, b: u128) -> u128 {
    divide_by_64(a, b as u64).0
}

/// `a % b`, in the same way.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
#[inline]
pub extern "C" fn __umodti3_by_u64(a: u128, b: u128) -> u128 {
    divide_by_64(a, b as u64).1
}

/// Quotient and remainder.
fn divide_128(a: u128, b: u128) -> (u128, u128) {
    let b_high = (b >> 64) as u64;
    if b_high == 0 {
        return divide_by_64(a, b as u64);
    }
    if a < b {
        return (0, a);
    }
    // The quotient has at most 64 bits. An estimate by the upper 64 bits of the divisor is at most one too large
    // (Warren, Hacker's Delight, 9-5); less one, it is right or one too small.
    let shift = b_high.leading_zeros();
    let half = a >> 1;
    let divisor = Divisor::new((b.wrapping_shl(shift) >> 64) as u64);
    let (estimate, _) = divisor.divide((half >> 64) as u64, half as u64);
    let mut quotient = (u128::from(estimate).wrapping_shl(shift) >> 63).saturating_sub(1);
    let mut rest = a.wrapping_sub(quotient.wrapping_mul(b));
    if rest >= b {
        quotient = quotient.wrapping_add(1);
        rest = rest.wrapping_sub(b);
    }
    (quotient, rest)
}

/// `a / b`.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub extern "C" fn __udivti3(a: u128, b: u128) -> u128 {
    divide_128(a, b).0
}

/// `a % b`.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub extern "C" fn __umodti3(a: u128, b: u128) -> u128 {
    divide_128(a, b).1
}

/// `a / b`, rounded towards zero.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub extern "C" fn __divti3(a: i128, b: i128) -> i128 {
    let quotient = divide_128(a.unsigned_abs(), b.unsigned_abs()).0 as i128;
    if (a < 0) == (b < 0) { quotient } else { quotient.wrapping_neg() }
}

/// `a % b`, with the sign of `a`.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub extern "C" fn __modti3(a: i128, b: i128) -> i128 {
    let remainder = divide_128(a.unsigned_abs(), b.unsigned_abs()).1 as i128;
    if a < 0 { remainder.wrapping_neg() } else { remainder }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    /// Numbers of every length, and those around powers of two, where carries go wrong.
    fn numbers() -> Vec<u128> {
        let edges = (0..128).flat_map(|bit| {
            let power = 1_u128 << bit;
            [power - 1, power, power + 1, !power, power | power >> 33, !(power | power >> 31)]
        });
        let mut state = 0x9e37_79b9_7f4a_7c15_u128;
        let random = (0..400).map(move |i| {
            state = state.wrapping_mul(0x2d99_787f_1b1b_2c8f_da94_2042_e4dd_58b5).wrapping_add(i | 1);
            (state ^ state >> 61) >> (i % 128)
        });
        edges.chain(random).collect()
    }

    #[test]
    fn agrees_with_the_hosts_division() {
        let numbers = numbers();
        for &a in &numbers {
            for &b in numbers.iter().filter(|b| **b != 0) {
                assert_eq!((__udivti3(a, b), __umodti3(a, b)), (a / b, a % b), "{a:#x} by {b:#x}");
                if b >> 64 == 0 {
                    assert_eq!((__udivti3_by_u64(a, b), __umodti3_by_u64(a, b)), (a / b, a % b), "{a:#x} by {b:#x}");
                }
                let (a, b) = (a as i128, b as i128);
                let expected = (a.wrapping_div(b), a.wrapping_rem(b));
                assert_eq!((__divti3(a, b), __modti3(a, b)), expected, "{a:#x} by {b:#x}");
            }
        }
    }
}

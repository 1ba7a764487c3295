//! Division of 128-bit integers by 64-bit divisions: LLVM alone would take one step a bit.

/// `a / b`, 0 if `b` is 0: callers have checked it.
fn divide(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(0)
}

/// Quotient and remainder of `high * 2^64 + low` by `divisor`, which is larger than `high`: Knuth's algorithm D
/// (The Art of Computer Programming, 4.3.1) with two digits of 32 bits.
fn divide_wide(high: u64, low: u64, divisor: u64) -> (u64, u64) {
    const BASE: u64 = 1 << 32;
    let shift = divisor.leading_zeros();
    let divisor = divisor.wrapping_shl(shift);
    let (top, bottom) = (divisor >> 32, divisor % BASE);
    let dividend = ((u128::from(high) << 64) | u128::from(low)).wrapping_shl(shift);
    let (high, low) = ((dividend >> 64) as u64, dividend as u64);

    // One digit of the quotient, and the remainder before the next.
    let digit = |high: u64, next: u64| {
        let mut quotient = divide(high, top);
        let mut rest = high.wrapping_sub(quotient.wrapping_mul(top));
        while quotient >= BASE || quotient.wrapping_mul(bottom) > (rest << 32 | next) {
            quotient -= 1;
            rest = rest.wrapping_add(top);
            if rest >= BASE {
                break;
            }
        }
        let remainder = (high << 32).wrapping_add(next).wrapping_sub(quotient.wrapping_mul(divisor));
        (quotient, remainder)
    };
    let (first, rest) = digit(high, low >> 32);
    let (second, rest) = digit(rest, low % BASE);
    (first << 32 | second, rest.wrapping_shr(shift))
}

/// Quotient and remainder.
fn divide_128(a: u128, b: u128) -> (u128, u128) {
    let (a_high, a_low) = ((a >> 64) as u64, a as u64);
    let (b_high, b_low) = ((b >> 64) as u64, b as u64);
    if b_high == 0 {
        let high = if a_high == 0 { 0 } else { divide(a_high, b_low) };
        let rest = a_high.wrapping_sub(high.wrapping_mul(b_low));
        let (low, rest) = if rest == 0 {
            let low = divide(a_low, b_low);
            (low, a_low.wrapping_sub(low.wrapping_mul(b_low)))
        } else {
            divide_wide(rest, a_low, b_low)
        };
        return (u128::from(high) << 64 | u128::from(low), u128::from(rest));
    }
    if a < b {
        return (0, a);
    }
    // The quotient has at most 64 bits. An estimate by the upper 64 bits of the divisor is at most one too large
    // (Warren, Hacker's Delight, 9-5); less one, it is right or one too small.
    let shift = b_high.leading_zeros();
    let half = a >> 1;
    let (estimate, _) = divide_wide((half >> 64) as u64, half as u64, (b.wrapping_shl(shift) >> 64) as u64);
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
                let (a, b) = (a as i128, b as i128);
                let expected = (a.wrapping_div(b), a.wrapping_rem(b));
                assert_eq!((__divti3(a, b), __modti3(a, b)), expected, "{a:#x} by {b:#x}");
            }
        }
    }
}

//! Numbers that are not rounded: large ones and fractions.

use alloc::string::ToString;

use crate::data::{Digest, Random};

#[inline(never)]
pub fn num_bigint(random: &mut Random, digest: &mut Digest) {
    use num_bigint::{BigInt, BigUint, Sign};

    let [a, b] = core::array::from_fn(|_| BigUint::from_bytes_le(&random.array::<40>()));
    digest.add((&a * &b, &a + &b, a.count_ones(), b.trailing_zeros(), a.cmp(&b), a.bits()));
    let signed = BigInt::from_biguint(Sign::Minus, a >> 65_u32);
    digest.add((&signed * &signed, signed.clone() - BigInt::from(b << 3_u32), signed.to_signed_bytes_be()));
}

#[inline(never)]
pub fn num_integer(random: &mut Random, digest: &mut Digest) {
    use num_integer::{Integer, Roots, binomial};

    for _ in 0..6 {
        let [a, b] = [random.word() as i64 >> 8, (random.word() as i64 >> 40) | 1];
        digest.add((
            a.gcd(&b),
            Integer::div_floor(&a, &b),
            a.mod_floor(&b),
            Integer::div_ceil(&a, &b),
            a.is_multiple_of(&b),
        ));
        digest.add((Roots::sqrt(&a.abs()), Roots::cbrt(&a), Roots::nth_root(&a.abs(), 5), (a >> 34).lcm(&b)));
        let extended = a.extended_gcd(&b);
        digest.add((extended.gcd, extended.x, extended.y));
    }
    digest.add(binomial(random.below(30) as u64 + 30, 11));
}

#[inline(never)]
pub fn num_rational(random: &mut Random, digest: &mut Digest) {
    use num_rational::Ratio;

    let mut sum = Ratio::new(1_i128, 3);
    for _ in 0..8 {
        let part = Ratio::new(random.below(50) as i128 - 25, random.below(20) as i128 + 1);
        sum = if part > sum { sum * part - Ratio::new(1, 7) } else { sum + part };
        digest.add((sum, sum.floor(), sum.round().to_integer(), sum.recip().reduced()));
    }
    digest.add(sum.to_string());
    digest.add("22/7".parse::<Ratio<i32>>().ok());
    digest.add(Ratio::<i32>::approximate_float(random.float()));
}

#[inline(never)]
pub fn primitive_types(random: &mut Random, digest: &mut Digest) {
    use primitive_types::{H160, U256, U512};

    let [a, b] = core::array::from_fn(|_| U256::from_big_endian(&random.array::<32>()));
    let small = U256::from(random.word() | 1);
    digest.add((a.full_mul(b), a / small, a % small, a.overflowing_pow(small & 63.into()), a.integer_sqrt()));
    digest.add((a.checked_add(b), (a >> 77) ^ (b << 5), a.leading_zeros(), a.low_u64(), U512::from(a) * 7));
    digest.add((a.to_string(), U256::from_dec_str(&b.to_string()).is_ok_and(|read| read == b)));
    digest.add(alloc::format!("{:x} {:?}", a, H160::from(random.array())));
}

#[inline(never)]
pub fn rust_decimal(random: &mut Random, digest: &mut Digest) {
    use rust_decimal::{Decimal, RoundingStrategy};

    let [a, b] = core::array::from_fn(|_| Decimal::new(random.word() as i64 >> 12, random.below(12) as u32));
    digest.add((a.checked_add(b), a.checked_mul(b), a.checked_div(b), a.checked_rem(b), a.normalize(), a.cmp(&b)));
    digest.add(a.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero).to_string());
    digest.add(a.to_string().parse::<Decimal>().is_ok_and(|read| read == a));
    digest.add((Decimal::from_str_exact("1.00000000000000000000000000001").is_err(), a.trunc(), a.fract()));
    digest.add(Decimal::from_scientific("1.25e3").ok());
}

//! The host's results against the processor's, and against exact arithmetic in a wider format.

use std::vec::Vec;

use super::exact::{self, Round};
use super::*;

/// Some of every kind, and many at random.
fn samples(count: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

fn singles() -> Vec<f32> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        3.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::EPSILON,
        f32::from_bits(1),
        f32::from_bits(0x007f_ffff),
        f32::from_bits(0x8000_0001),
        16_777_217.0,
    ];
    let random = samples(400).map(|bits| f32::from_bits(bits as u32));
    // Near one another, so that sums cancel and quotients are close to one.
    let near = samples(200).map(|bits| f32::from_bits(0x3f80_0000 ^ bits as u32 & 0x807f_ffff));
    special.into_iter().chain(random).chain(near).collect()
}

fn doubles() -> Vec<f64> {
    let special = [0.0, -0.0, 1.0, f64::MIN_POSITIVE, f64::MAX, f64::NEG_INFINITY, f64::NAN, f64::from_bits(1)];
    let random = samples(400).map(f64::from_bits);
    let near = samples(200).map(|bits| f64::from_bits(0x3ff0_0000_0000_0000 ^ bits & 0x800f_ffff_ffff_ffff));
    special.into_iter().chain(random).chain(near).collect()
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn to_nearest_as_the_processor() {
    let values = singles();
    for &a in &values {
        assert!(same(a.sqrt_rn().into(), a.sqrt().into()), "{a:e}");
        assert!(same(a.rcp_rn().into(), (1.0 / a).into()), "{a:e}");
        for &b in &values {
            assert!(same(a.add_rn(b).into(), (a + b).into()), "{a:e} + {b:e}");
            assert!(same(a.sub_rn(b).into(), (a - b).into()), "{a:e} - {b:e}");
            assert!(same(a.mul_rn(b).into(), (a * b).into()), "{a:e} * {b:e}");
            assert!(same(a.div_rn(b).into(), (a / b).into()), "{a:e} / {b:e}");
            let c = f32::from_bits(a.to_bits().rotate_left(7) ^ b.to_bits());
            for c in [c, -(a * b)] {
                assert!(same(a.fma_rn(b, c).into(), a.mul_add(b, c).into()), "{a:e} * {b:e} + {c:e}");
            }
        }
    }
    let values = doubles();
    for &a in &values {
        assert!(same(a.sqrt_rn(), a.sqrt()), "{a:e}");
        for &b in &values {
            assert!(same(a.add_rn(b), a + b), "{a:e} + {b:e}");
            assert!(same(a.mul_rn(b), a * b), "{a:e} * {b:e}");
            assert!(same(a.div_rn(b), a / b), "{a:e} / {b:e}");
            for c in [-(a * b), b] {
                assert!(same(a.fma_rn(b, c), a.mul_add(b, c)), "{a:e} * {b:e} + {c:e}");
            }
        }
    }
}

/// What is below the smallest normal number after rounding to 24 bits is flushed, also where it would round up to that
/// number in the fewer bits of subnormal ones.
#[test]
fn tiny_results_are_flushed() {
    let smallest = f32::MIN_POSITIVE;
    let (above, below) = (smallest.next_up(), 1.0 - f32::EPSILON);
    assert_eq!(above.mul_rn(below), smallest);
    assert_eq!(above.mul_rn_ftz(below), smallest);
    assert_eq!(above.mul_rz_ftz(below).to_bits(), 0);
    assert_eq!(smallest.mul_rn(1.0_f32.next_down()), smallest);
    assert_eq!(smallest.mul_rn_ftz(1.0_f32.next_down()).to_bits(), 0);
    assert_eq!(above.mul_ru_ftz(-below).to_bits(), 0x8000_0000);
    assert_eq!(above.mul_rn_ftz(1.0_f32.next_down()), smallest);
    assert_eq!(smallest.fma_rn_ftz(-smallest, smallest), smallest);
    assert_eq!(smallest.fma_rz_ftz(-smallest, smallest).to_bits(), 0);
    assert_eq!(smallest.fma_rn_ftz(smallest, smallest), smallest);
    assert_eq!(smallest.div_ru_ftz(1.0_f32.next_up()).to_bits(), 0);
    assert_eq!((smallest.div_ru(1.0_f32.next_up()), above.sub_rn_ftz(above)), (smallest, 0.0));
    assert_eq!(above.sub_rd_ftz(above).to_bits(), 0x8000_0000);
}

/// In the other modes the result is one of the two numbers around the exact one, on the right side; of products of
/// `f32` the exact one is an `f64`.
#[test]
fn directed_results_lie_on_their_side() {
    let values = singles();
    for &a in &values {
        for &b in &values {
            let exact = f64::from(a) * f64::from(b);
            if exact.is_nan() || exact.abs() > f64::from(f32::MAX) {
                continue;
            }
            let (down, up, zero) = (a.mul_rd(b), a.mul_ru(b), a.mul_rz(b));
            assert!(f64::from(down) <= exact && exact <= f64::from(up), "{a:e} * {b:e}");
            assert!(f64::from(down) == exact && f64::from(up) == exact || down.next_up() == up, "{a:e} * {b:e}");
            assert_eq!(zero, if exact < 0.0 { up } else { down }, "{a:e} * {b:e}");
            assert_eq!(exact::convert::<f64, f32>(exact, Round::Up), up, "{exact:e}");
        }
    }
    for &a in &values {
        for &b in &values {
            let (down, up) = (a.div_rd(b), a.div_ru(b));
            if !(a / b).is_finite() || !b.is_finite() {
                continue;
            }
            // The products with the divisor are exact.
            let (a, b) = (f64::from(a), f64::from(b));
            let (low, high) = if b > 0.0 { (down, up) } else { (up, down) };
            assert!(f64::from(low) * b <= a && a <= f64::from(high) * b, "{a:e} / {b:e}");
            assert!(down == up || down.next_up() == up, "{a:e} / {b:e}");
        }
    }
}

#[test]
fn limits_and_zeros() {
    assert_eq!(f32::MAX.add_rz(f32::MAX), f32::MAX);
    assert_eq!(f32::MAX.add_ru(f32::MAX), f32::INFINITY);
    assert_eq!((-f32::MAX).add_ru(-f32::MAX), -f32::MAX);
    assert_eq!(1.0_f32.sub_rd(1.0).to_bits(), (-0.0_f32).to_bits());
    assert_eq!(1.0_f32.sub_ru(1.0).to_bits(), 0);
    assert_eq!(f64::from_bits(1).mul_ru(0.25), f64::from_bits(1));
    assert_eq!(f64::from_bits(1).mul_rd(-0.25), -f64::from_bits(1));
    assert_eq!(1e300_f64.fma_rz(1e300, f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!(1.0_f64.fma_rd(1.0, -f64::from_bits(1)), 1.0_f64.next_down());
    assert_eq!(2.0_f64.sqrt_ru(), 2.0_f64.sqrt_rd().next_up());
    assert!((-1.0_f32).sqrt_rz().is_nan() && 0.0_f32.div_ru(0.0).is_nan());
}

#[test]
fn forms_of_single_precision() {
    let small = f32::from_bits(0x0040_0000);
    assert_eq!(small.add_rn_ftz(-0.0).to_bits(), 0);
    assert_eq!((-small).mul_ru_ftz(1.0).to_bits(), (-0.0_f32).to_bits());
    assert_eq!(f32::MIN_POSITIVE.mul_rz_ftz(0.5), 0.0);
    assert_eq!(
        (2.0_f32.add_rn_sat(3.0), (-2.0_f32).fma_rd_ftz_sat(1.0, 0.5), f32::NAN.mul_rn_sat(1.0)),
        (1.0, 0.0, 0.0)
    );
    assert_eq!(small.rcp_rn_ftz(), f32::INFINITY);
}

#[test]
fn conversions_as_the_processor() {
    for a in singles() {
        assert!(same(a.to_integral_rn().into(), a.round_ties_even().into()), "{a:e}");
        assert!(same(a.to_integral_rz().into(), a.trunc().into()), "{a:e}");
        assert!(same(a.to_integral_ru().into(), a.ceil().into()), "{a:e}");
        assert!(same(a.to_integral_rd().into(), a.floor().into()), "{a:e}");
        assert_eq!(a.to_i32_rz(), a as i32, "{a:e}");
        assert_eq!(a.to_u32_rd(), a.floor() as u32, "{a:e}");
        if !a.is_nan() {
            assert_eq!(a.to_i64_ru(), a.ceil() as i64, "{a:e}");
            assert_eq!(a.to_u64_rn(), a.round_ties_even() as u64, "{a:e}");
        }
    }
    assert_eq!((f32::NAN.to_u64_rz(), f64::NAN.to_i32_rn(), f64::NAN.to_u32_rn()), (1 << 63, i32::MIN, 1 << 31));
    for a in doubles().into_iter().filter(|a| !a.is_nan()) {
        assert_eq!(a.to_i32_rd(), a.floor() as i32, "{a:e}");
        assert_eq!(a.to_u64_ru(), a.ceil() as u64, "{a:e}");
        assert_eq!(a.to_f32_rn(), a as f32, "{a:e}");
        assert!(f64::from(a.to_f32_rd()) <= a && a <= f64::from(a.to_f32_ru()), "{a:e}");
    }
    for bits in samples(2000) {
        for bits in [bits, bits >> 40, bits >> 10] {
            assert_eq!((bits.to_f32_rn(), bits.to_f64_rn()), (bits as f32, bits as f64));
            let signed = bits.cast_signed();
            assert_eq!((signed.to_f32_rn(), signed.to_f64_rn()), (signed as f32, signed as f64));
            assert!(signed.to_f64_rd() as i128 <= signed.into() && signed.to_f64_ru() as i128 >= signed.into());
            assert_eq!((bits as u32).to_f64_rz(), f64::from(bits as u32));
        }
    }
}

#[cfg(feature = "half")]
mod sixteen {
    use ::half::{bf16, f16};

    use super::*;

    fn halves() -> impl Iterator<Item = f16> {
        (0..=u16::MAX).map(f16::from_bits)
    }

    #[test]
    fn as_the_crate_half() {
        for a in halves() {
            assert!(same(a.widen().into(), a.to_f32().into()), "{a:?}");
            assert!(a.is_nan() || a.widen().to_f16_rn() == a && a.widen().to_f16_rd() == a);
            assert_eq!(a.to_i32_rz(), a.to_f32() as i32, "{a:?}");
        }
        for bits in (0..u32::MAX).step_by(4099) {
            let x = f32::from_bits(bits);
            let (half, brain) = (x.to_f16_rn(), x.to_bf16_rn());
            assert!(x.is_nan() && half.is_nan() || half.to_bits() == f16::from_f32(x).to_bits(), "{x:e}");
            assert!(x.is_nan() && brain.is_nan() || brain.to_bits() == bf16::from_f32(x).to_bits(), "{x:e}");
            assert!(x.is_nan() || x.to_bf16_rd().to_f32() <= x && x <= x.to_bf16_ru().to_f32(), "{x:e}");
        }
        let mut near = 0;
        for bits in samples(20_000) {
            let [a, b, c] = [bits as u16, (bits >> 16) as u16, (bits >> 32) as u16].map(f16::from_bits);
            // `f32` has bits enough for a single rounding of sums and products.
            let sum = f16::from_f32(a.to_f32() + b.to_f32());
            let product = f16::from_f32(a.to_f32() * b.to_f32());
            assert!(sum.is_nan() || a.add_rn(b).to_bits() == sum.to_bits(), "{a:?} + {b:?}");
            assert!(product.is_nan() || a.mul_rn(b).to_bits() == product.to_bits(), "{a:?} * {b:?}");
            let fused = f64::from(a.to_f32()) * f64::from(b.to_f32()) + f64::from(c.to_f32());
            // `f64` holds the product, and the sum unless the exponents lie far apart.
            let result = a.fma_rn(b, c);
            let distance = |bits: u16| (f16::from_bits(bits).to_f64() - fused).abs();
            if fused.abs() < 65504.0 {
                let bits = result.to_bits();
                let nearest = [bits.wrapping_sub(1), bits.wrapping_add(1)].map(distance).into_iter();
                assert!(
                    nearest.filter(|d| !d.is_nan()).all(|d| distance(bits) <= d),
                    "{a:?} * {b:?} + {c:?} = {result:?}"
                );
            }
            near += u32::from(!fused.is_nan());
        }
        assert!(near > 10_000);
    }

    #[test]
    fn lanes() {
        let a = F16x2::new(f16::from_f32(1.5), f16::from_f32(-2.0));
        let b = F16x2::splat(f16::from_f32(0.25));
        assert_eq!((a + b).to_array().map(f16::to_f32), [1.75, -1.75]);
        assert_eq!(a.fma_rn_relu(b, b).to_array().map(f16::to_f32), [0.625, 0.0]);
        assert_eq!((a * b).swap().high().to_f32(), 0.375);
        assert_eq!(a.mul_rn_sat(b).high(), f16::ZERO);
        assert_eq!(Bf16x2::from_f32_rn(1.0, -3.0).negated().to_array().map(bf16::to_f32), [-1.0, 3.0]);
        assert_eq!(a.minimum_nan(F16x2::splat(f16::NAN)).low().to_bits(), 0x7e00 | 0x1ff);
        assert_eq!(a.maximum(F16x2::splat(f16::NAN)), a);
        assert_eq!(F16x2::from_f32_rn(1.0, 2.0).0, 0x4000_3c00);
    }

    /// As `f32`, and so do pairs.
    #[test]
    fn tiny_halves_are_flushed() {
        let (above, below) = (f16::from_bits(0x401), f16::from_bits(0x3bfe));
        assert_eq!((above.mul_rn(below).to_bits(), above.mul_rn_ftz(below).to_bits()), (0x400, 0x400));
        let (smallest, below) = (f16::MIN_POSITIVE, f16::from_bits(0x3bff));
        assert_eq!((smallest.mul_rn(below).to_bits(), smallest.mul_rn_ftz(below).to_bits()), (0x400, 0));
        let pair = F16x2::new(smallest, f16::NEG_ONE).mul_rn_ftz(F16x2::new(below, f16::NEG_ONE));
        assert_eq!(pair.to_array(), [f16::ZERO, f16::ONE]);
        assert_eq!(smallest.fma_rn_ftz_relu(-smallest, smallest), smallest);
    }

    /// Every `f16` to the nearest of all 8-bit numbers, with ties to even.
    #[test]
    fn eight_bits() {
        let values = |to: fn(u8) -> f32| (0..=u8::MAX).map(move |bits| (bits, to(bits))).filter(|(_, x)| x.is_finite());
        let check = |to: fn(u8) -> f32, from: fn(f32) -> u8, largest: f32| {
            let all: Vec<_> = values(to).collect();
            for x in halves().filter(|x| !x.is_nan()).map(f16::to_f32) {
                let clamped = x.clamp(-largest, largest);
                let distance = |(bits, value): &(u8, f32)| ((value - clamped).abs(), bits & 1);
                let same_sign = all.iter().filter(|(bits, _)| (bits >> 7 != 0) == x.is_sign_negative());
                let best = same_sign.min_by(|a, b| distance(a).partial_cmp(&distance(b)).unwrap()).unwrap();
                assert_eq!(from(x), best.0, "{x:e}");
            }
        };
        check(|bits| F8E4M3(bits).to_f32(), |x| F8E4M3::from_f32(x).0, 448.0);
        check(|bits| F8E5M2(bits).to_f32(), |x| F8E5M2::from_f32(x).0, 57344.0);
        assert_eq!((F8E4M3::from_f32(f32::NAN).0, F8E5M2::from_f32(f32::NAN).0), (0x7f, 0x7f));
        assert_eq!(F8E4M3x2::from_f32_relu(-1.0, 2.0).to_f16x2().to_array().map(f16::to_f32), [0.0, 2.0]);
    }
}

#[test]
fn tensor_floats() {
    let tie = 1.0 + f32::EPSILON * 4096.0;
    assert_eq!(tie.to_tf32_rna(), 1.0 + f32::EPSILON * 8192.0);
    assert_eq!((tie.to_tf32_rn(), tie.to_tf32_rz()), (1.0, 1.0));
    assert_eq!((-tie).to_tf32_rz_relu(), 0.0);
    assert_eq!(1e30_f32.to_tf32_rz().to_bits() & 0x1fff, 0);
    // NaN: one rounding keeps the payload's upper bits, and without any is infinity.
    assert_eq!(f32::from_bits(0xff80_1fff).to_tf32_rna(), f32::NEG_INFINITY);
    assert_eq!(f32::from_bits(0x7f80_3001).to_tf32_rna().to_bits(), 0x7f80_2000);
    assert!(f32::from_bits(0xff80_1fff).to_tf32_rn().is_nan());
}

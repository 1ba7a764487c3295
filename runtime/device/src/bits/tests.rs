//! What the host computes, against the definitions, lane by lane.

use super::simd;
use super::*;

/// Numbers with every pattern of small and large lanes, and some that follow no pattern.
fn numbers() -> impl Iterator<Item = u32> {
    let lanes = [0_u32, 1, 0x7f, 0x80, 0x81, 0xff];
    let words = (0..6_usize.pow(4))
        .map(move |n| lanes[n % 6] | lanes[n / 6 % 6] << 8 | lanes[n / 36 % 6] << 16 | lanes[n / 216] << 24);
    words.chain((0..700_u32).map(|n| n.wrapping_mul(0x9e37_79b9).rotate_left(n % 32)))
}

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    let all: std::vec::Vec<u32> = numbers().collect();
    (0..40_000_usize).map(move |n| (all[n % all.len()], all[n * 7919 % all.len()]))
}

/// A function on lanes of `bits` bits, from one on numbers with or without a sign.
fn by_lanes(bits: u32, signed: bool, a: u32, b: u32, function: impl Fn(i64, i64) -> i64) -> u32 {
    let mask = (1_u64 << bits) - 1;
    let lane = |word: u32, at: u32| {
        let value = i64::from(word >> at) & mask as i64;
        if signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
    };
    (0..32 / bits).fold(0, |word, n| {
        let at = n * bits;
        word | ((function(lane(a, at), lane(b, at)) as u64 & mask) << at) as u32
    })
}

macro_rules! check {
    ($($two:ident $four:ident $signed:ident |$a:ident, $b:ident, $bits:ident| $value:expr;)*) => {
        for (a, b) in pairs() {
            $(
                for ($bits, found, name) in [
                    (16_u32, check!(@ $two(a, b)), stringify!($two)),
                    (8, check!(@ $four(a, b)), stringify!($four)),
                ] {
                    let expected = by_lanes($bits, $signed, a, b, |$a, $b| $value);
                    assert_eq!(found, expected, "{name}({a:#x}, {b:#x})");
                }
            )*
        }
    };
    (@ $name:ident($a:ident, $b:ident)) => { simd::$name($a, $b) };
}

fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    let (low, high) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    value.clamp(low, high)
}

#[test]
fn sums_and_others_lane_by_lane() {
    check! {
        vadd2 vadd4 false |a, b, _bits| a + b;
        vaddss2 vaddss4 true |a, b, bits| clamp(a + b, bits, true);
        vaddus2 vaddus4 false |a, b, bits| clamp(a + b, bits, false);
        vsub2 vsub4 false |a, b, _bits| a - b;
        vsubss2 vsubss4 true |a, b, bits| clamp(a - b, bits, true);
        vsubus2 vsubus4 false |a, b, bits| clamp(a - b, bits, false);
        vabsdiffu2 vabsdiffu4 false |a, b, _bits| (a - b).abs();
        vabsdiffs2 vabsdiffs4 true |a, b, _bits| (a - b).abs();
        vavgu2 vavgu4 false |a, b, _bits| (a + b + 1) >> 1;
        vhaddu2 vhaddu4 false |a, b, _bits| (a + b) >> 1;
        vmaxs2 vmaxs4 true |a, b, _bits| a.max(b);
        vmaxu2 vmaxu4 false |a, b, _bits| a.max(b);
        vmins2 vmins4 true |a, b, _bits| a.min(b);
        vminu2 vminu4 false |a, b, _bits| a.min(b);
    }
}

#[test]
fn comparisons_lane_by_lane() {
    check! {
        vcmpeq2 vcmpeq4 false |a, b, _bits| -i64::from(a == b);
        vcmpne2 vcmpne4 false |a, b, _bits| -i64::from(a != b);
        vcmpgts2 vcmpgts4 true |a, b, _bits| -i64::from(a > b);
        vcmpgtu2 vcmpgtu4 false |a, b, _bits| -i64::from(a > b);
        vcmpges2 vcmpges4 true |a, b, _bits| -i64::from(a >= b);
        vcmpgeu2 vcmpgeu4 false |a, b, _bits| -i64::from(a >= b);
        vcmplts2 vcmplts4 true |a, b, _bits| -i64::from(a < b);
        vcmpltu2 vcmpltu4 false |a, b, _bits| -i64::from(a < b);
        vcmples2 vcmples4 true |a, b, _bits| -i64::from(a <= b);
        vcmpleu2 vcmpleu4 false |a, b, _bits| -i64::from(a <= b);
        vseteq2 vseteq4 false |a, b, _bits| i64::from(a == b);
        vsetne2 vsetne4 false |a, b, _bits| i64::from(a != b);
        vsetgts2 vsetgts4 true |a, b, _bits| i64::from(a > b);
        vsetgtu2 vsetgtu4 false |a, b, _bits| i64::from(a > b);
        vsetges2 vsetges4 true |a, b, _bits| i64::from(a >= b);
        vsetgeu2 vsetgeu4 false |a, b, _bits| i64::from(a >= b);
        vsetlts2 vsetlts4 true |a, b, _bits| i64::from(a < b);
        vsetltu2 vsetltu4 false |a, b, _bits| i64::from(a < b);
        vsetles2 vsetles4 true |a, b, _bits| i64::from(a <= b);
        vsetleu2 vsetleu4 false |a, b, _bits| i64::from(a <= b);
    }
}

#[test]
fn of_one_operand_and_over_lanes() {
    for (a, b) in pairs() {
        for (bits, neg, negss, abs, absss, sadu, sads) in [
            (
                16,
                simd::vneg2(a),
                simd::vnegss2(a),
                simd::vabs2(a),
                simd::vabsss2(a),
                simd::vsadu2(a, b),
                simd::vsads2(a, b),
            ),
            (
                8,
                simd::vneg4(a),
                simd::vnegss4(a),
                simd::vabs4(a),
                simd::vabsss4(a),
                simd::vsadu4(a, b),
                simd::vsads4(a, b),
            ),
        ] {
            assert_eq!(neg, by_lanes(bits, true, a, 0, |a, _| -a), "-{a:#x}");
            assert_eq!(negss, by_lanes(bits, true, a, 0, |a, _| clamp(-a, bits, true)), "-{a:#x}");
            assert_eq!(abs, by_lanes(bits, true, a, 0, |a, _| a.abs()), "|{a:#x}|");
            assert_eq!(absss, by_lanes(bits, true, a, 0, |a, _| clamp(a.abs(), bits, true)), "|{a:#x}|");
            let total = |signed| {
                let each = by_lanes(bits, signed, a, b, |a, b| (a - b).abs());
                (0..32 / bits).map(|n| each >> (n * bits) & (u32::MAX >> (32 - bits))).sum::<u32>()
            };
            assert_eq!((sadu, sads), (total(false), total(true)), "{a:#x} {b:#x}");
        }
    }
}

#[test]
fn fields() {
    for (a, b) in pairs().step_by(7) {
        for (start, len) in [(0, 0), (0, 1), (3, 7), (0, 32), (31, 1), (20, 20), (40, 3), (256, 4), (5, 255)] {
            let (s, l) = (start & 255, len & 255);
            let bits = |value: u128, top: u32| {
                (0..l.min(200)).filter(|n| s + n < top).fold(0, |all, n| all | (value >> (s + n) & 1) << n)
            };
            assert_eq!(u128::from(bfe(a, start, len)), bits(a.into(), 32) & 0xffff_ffff);
            let wide = u64::from(a) << 32 | u64::from(b);
            assert_eq!(u128::from(bfe_u64(wide, start, len)), bits(wide.into(), 64));
            let set = |field: u128, base: u128, top: u32| {
                (0..l.min(200))
                    .filter(|n| s + n < top)
                    .fold(base, |all, n| all & !(1 << (s + n)) | (field >> n & 1) << (s + n))
            };
            assert_eq!(u128::from(bfi(a, b, start, len)), set(a.into(), b.into(), 32));
            assert_eq!(u128::from(bfi_u64(wide, !wide, start, len)), set(wide.into(), (!wide).into(), 64));
            // With a sign: as without, where the field ends in the word, and the sign above it.
            if l > 0 && s + l <= 32 {
                assert_eq!(bfe_i32(a as i32, start, len), (bfe(a, start, len) << (32 - l)) as i32 >> (32 - l));
                assert_eq!(
                    bfe_i64(wide as i64, start, len),
                    (bfe_u64(wide, start, len) << (64 - l)) as i64 >> (64 - l)
                );
            }
        }
        assert_eq!(bfind(a), a.checked_ilog2().unwrap_or(u32::MAX));
        assert_eq!(bfind_shift(a), if a == 0 { u32::MAX } else { a.leading_zeros() });
        assert_eq!(ffs(a), if a == 0 { 0 } else { a.trailing_zeros() + 1 });
    }
    assert_eq!((bfind_i32(-1), bfind_i32(-2), bfind_i32(5), bfind_i64(-5)), (u32::MAX, 0, 2, 2));
    assert_eq!((bfind_shift_i32(0), bfind_shift_i32(-2), bfind_shift_i64(1)), (u32::MAX, 31, 63));
    assert_eq!(
        (bfe_i32(-1, 40, 3), bfe_i32(i32::MAX, 40, 3), bfe_i32(8, 3, 1), bfe_i64(i64::MIN, 60, 9)),
        (-1, 0, -1, -8)
    );
    assert_eq!((bmsk_clamp(4, 3), bmsk_clamp(30, 9), bmsk_clamp(32, 1), bmsk_wrap(33, 34)), (0x70, 0xc000_0000, 0, 6));
    assert_eq!(
        (sign_extend(0xff, 8), sign_extend(0x7f, 8), sign_extend(5, 99), sign_extend_wrap(1, 33)),
        (-1, 127, 5, -1)
    );
    assert_eq!((zero_extend(0xfff, 8), zero_extend(7, 32), zero_extend_wrap(7, 34)), (255, 7, 3));
    assert_eq!(
        (fns(0b1011_0100, 0, 2), fns(0b1011_0100, 7, -2), fns(0b100, 2, 0), fns(0b100, 1, 0)),
        (4, 5, 2, u32::MAX)
    );
    assert_eq!((fns(0b1011, 0, 4), fns(0, 31, 1), fns(u32::MAX, 31, -32)), (u32::MAX, u32::MAX, 0));
}

#[test]
fn products_and_permutations() {
    for (a, b) in pairs() {
        let (s, t) = (a as i32, b as i32);
        assert_eq!(i64::from(mulhi(s, t)), (i64::from(s) * i64::from(t)) >> 32);
        assert_eq!(mul24(s, t), ((s << 8 >> 8) as i64 * (t << 8 >> 8) as i64) as i32);
        assert_eq!(mul24_hi_u32(a, b), ((u64::from(a << 8 >> 8) * u64::from(b << 8 >> 8)) >> 16) as u32);
        assert_eq!(hadd(s, t), ((i64::from(s) + i64::from(t)) >> 1) as i32);
        assert_eq!(rhadd_u32(a, b), ((u64::from(a) + u64::from(b) + 1) >> 1) as u32);
        assert_eq!(sad(s, t, 3), (i64::from(s) - i64::from(t)).unsigned_abs() as u32 + 3);
        let bytes = |word: u32| word.to_le_bytes().map(|byte| i32::from(byte as i8));
        let dot: i32 = bytes(a).iter().zip(bytes(b)).map(|(a, b)| a * b).sum();
        assert_eq!(dp4a(a, b, 5), dot + 5);
        let halves = [a as i16, (a >> 16) as i16].map(i32::from);
        assert_eq!(dp2a_hi(a, b, -1), halves[0] * bytes(b)[2] + halves[1] * bytes(b)[3] - 1);
        assert_eq!(dp2a_lo_us(a, b, 0), i32::from(a as u16) * bytes(b)[0] + (a >> 16) as i32 * bytes(b)[1]);
        let both = u64::from(b) << 32 | u64::from(a);
        assert_eq!(funnel_left(a, b, 37), (both << 5 >> 32) as u32);
        assert_eq!((funnel_left_clamp(a, b, 37), funnel_right_clamp(a, b, 99)), (a, b));
        assert_eq!(funnel_right(a, b, 35), (both >> 3) as u32);
        assert_eq!(byte_perm(a, b, 0x5410), a & 0xffff | b << 16);
        assert_eq!(byte_perm(a, b, 0xfedc), b, "the highest bit of a choice does not count");
        assert_eq!(permute_forward(a, b, 1), (both >> 8) as u32);
        assert_eq!(permute_backward(a, b, 3), a.swap_bytes());
        assert_eq!(permute_replicate(a, b, 2), (a >> 16 & 0xff) * 0x0101_0101);
        assert_eq!(permute_clamp_left(a, b, 3), (a >> 24) * 0x0101_0101);
        assert_eq!(permute_clamp_right(a, b, 0), (a & 0xff) * 0x0101_0101);
        assert_eq!(permute_replicate_half(a, b, 1), (a >> 16) * 0x0001_0001);
        assert_eq!(lop3::<0xe8>(a, b, 7), a & b | a & 7 | b & 7);
        assert_eq!(lop3::<0x96>(a, b, 7), a ^ b ^ 7);
        assert_eq!(lop3::<{ !0xf0 & 0xcc | 0xaa }>(a, b, 7), !a & b | 7);
    }
}

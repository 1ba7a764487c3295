//! What the bits of PTX's instructions do, for the table: each function follows the pseudo-code of the PTX ISA.

/// The operands of an instruction, each in the low bits of a word whose other bits are 0.
pub type Operands = [u64; 4];

/// `a` as a signed number of so many bits.
pub fn signed(a: u64, bits: u32) -> i64 {
    ((a << (64 - bits)) as i64) >> (64 - bits)
}

/// The low bits.
pub fn low(a: u64, bits: u32) -> u64 {
    if bits == 64 { a } else { a & ((1 << bits) - 1) }
}

/// `shl`: amounts beyond the width give 0.
pub fn shl(a: u64, by: u64, bits: u32) -> u64 {
    if by as u32 >= bits { 0 } else { a << (by as u32) }
}

/// `shr.u`.
pub fn shr(a: u64, by: u64, bits: u32) -> u64 {
    if by as u32 >= bits { 0 } else { a >> (by as u32) }
}

/// `shr.s`: amounts beyond the width give the sign.
pub fn sar(a: u64, by: u64, bits: u32) -> u64 {
    (signed(a, bits) >> (by as u32).min(bits - 1)) as u64
}

/// `bfe`.
pub fn bfe(a: u64, position: u64, len: u64, bits: u32, is_signed: bool) -> u64 {
    let (position, len, last) = ((position & 255) as u32, (len & 255) as u32, bits - 1);
    let bit = |at: u32| a >> at & 1;
    let sign = if is_signed && len > 0 { bit((position + len - 1).min(last)) } else { 0 };
    (0..bits).map(|at| (if at < len && position + at <= last { bit(position + at) } else { sign }) << at).sum()
}

/// `bfi`.
pub fn bfi(a: u64, b: u64, position: u64, len: u64, bits: u32) -> u64 {
    let (position, len) = ((position & 255) as u32, (len & 255) as u32);
    (0..len).filter(|at| position + at < bits).fold(b, |b, at| {
        let to = position + at;
        b & !(1 << to) | (a >> at & 1) << to
    })
}

/// `bfind`, and with `.shiftamt`.
pub fn bfind(a: u64, bits: u32, is_signed: bool, shift: bool) -> u64 {
    let a = if is_signed && signed(a, bits) < 0 { low(!a, bits) } else { a };
    if a == 0 {
        return 0xffff_ffff;
    }
    let found = u64::from(63 - a.leading_zeros());
    if shift { u64::from(bits) - 1 - found } else { found }
}

/// `prmt.b32` without a mode: a nibble chooses a byte, or copies of its sign.
pub fn prmt(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = a | b << 32;
    (0..4).fold(0, |result, at| {
        let nibble = selector >> (4 * at) & 15;
        let byte = bytes >> (8 * (nibble & 7)) & 255;
        result | (if nibble < 8 { byte } else { 255 * (byte >> 7) }) << (8 * at)
    })
}

/// `prmt.b32` with a mode, whose row of the table says which bytes each selector gives, the highest first.
pub fn prmt_by(a: u64, b: u64, selector: u64, rows: [u64; 4]) -> u64 {
    prmt(a, b, rows[(selector & 3) as usize])
}

/// `lop3.b32`.
pub fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..32).map(|at| (table >> ((a >> at & 1) << 2 | (b >> at & 1) << 1 | (c >> at & 1)) & 1) << at).sum()
}

/// `shf.l` and `shf.r` by an amount of at most 32.
pub fn funnel(a: u64, b: u64, by: u64, left: bool) -> u64 {
    let both = b << 32 | a;
    if left { low((both << by) >> 32, 32) } else { low(both >> by, 32) }
}

/// Four bytes, or two halfwords, each extended.
pub fn parts(a: u64, width: u32, is_signed: bool) -> Vec<i64> {
    let part = |at: u32| low(a >> (at * width), width);
    (0..32 / width).map(|at| if is_signed { signed(part(at), width) } else { part(at) as i64 }).collect()
}

/// `dp4a`.
pub fn dp4a(a: u64, b: u64, c: u64, signs: (bool, bool)) -> u64 {
    let products = parts(a, 8, signs.0).into_iter().zip(parts(b, 8, signs.1)).map(|(a, b)| a * b);
    (products.sum::<i64>() as u64).wrapping_add(c)
}

/// `dp2a`: the halfwords of `a` with the lower or the upper bytes of `b`.
pub fn dp2a(a: u64, b: u64, c: u64, signs: (bool, bool), high: bool) -> u64 {
    let bytes = parts(b, 8, signs.1);
    let bytes = if high { &bytes[2..] } else { &bytes[..2] };
    let products = parts(a, 16, signs.0).into_iter().zip(bytes).map(|(a, b)| a * b);
    (products.sum::<i64>() as u64).wrapping_add(c)
}

/// Each half of a pair.
pub fn halves(a: u64, b: u64, of: impl Fn(u64, u64) -> u64) -> u64 {
    low(of(a & 0xffff, b & 0xffff), 16) | low(of(a >> 16, b >> 16), 16) << 16
}

/// `cvt.sat`: the number, or the nearest that the type has.
pub fn saturated(a: i128, bits: u32, is_signed: bool) -> u64 {
    let (least, most) =
        if is_signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    a.clamp(least, most) as u64
}

/// `szext`: the low bits, extended.
pub fn szext(a: u64, len: u64, is_signed: bool) -> u64 {
    match (len as u32, is_signed) {
        (0, _) => 0,
        (32.., _) => a,
        (len, true) => signed(low(a, len), len) as u64,
        (len, false) => low(a, len),
    }
}

/// `bmsk`: ones from a place on.
pub fn bmsk(at: u64, len: u64) -> u64 {
    low(low(u64::MAX, len as u32) << at, 32)
}

/// The products of 24 bits.
pub fn mul24(a: u64, b: u64, is_signed: bool) -> u64 {
    if is_signed { (signed(low(a, 24), 24) * signed(low(b, 24), 24)) as u64 } else { low(a, 24) * low(b, 24) }
}

/// The upper half of a product of 64 bits.
pub fn high64(a: u64, b: u64, is_signed: bool) -> u64 {
    if is_signed {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    } else {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples worked out by hand from the PTX ISA's pseudo-code.
    #[test]
    fn fields_and_shifts() {
        assert_eq!([shl(1, 31, 32), shl(1, 32, 32), shl(1, 1 << 33, 32)], [1 << 31, 0, 1]);
        assert_eq!(low(sar(0x8000, 40, 16), 16), 0xffff);
        assert_eq!([bfe(0xabcd, 4, 8, 32, false), bfe(0xabcd, 4, 8, 32, true)], [0xbc, 0xffff_ffbc]);
        assert_eq!([bfe(0x8000_0000, 24, 16, 32, true), bfe(1 << 31, 40, 3, 32, true)], [0xffff_ff80, 0xffff_ffff]);
        assert_eq!(bfe(u64::MAX, 0, 0, 64, true), 0);
        assert_eq!([bfi(0xff, 0, 8, 4, 32), bfi(0xff, 0xffff_0000, 30, 8, 32)], [0xf00, 0xffff_0000]);
        assert_eq!([bfind(0, 32, false, false), bfind(0xffff_ffff, 32, true, true)], [0xffff_ffff; 2]);
        assert_eq!(
            [bfind(0x80, 32, false, false), bfind(0x80, 32, false, true), bfind(1 << 63, 64, true, false)],
            [7, 24, 62]
        );
        assert_eq!([funnel(0x8000_0001, 0x7, 4, true), funnel(0x8000_0001, 0x7, 4, false)], [0x78, 0x7800_0000]);
        assert_eq!([funnel(1, 2, 32, true), funnel(1, 2, 32, false)], [1, 2]);
        assert_eq!([szext(0x1ff, 8, true), szext(0x1ff, 8, false), szext(7, 0, true)], [u64::MAX, 0xff, 0]);
        assert_eq!([bmsk(4, 8), bmsk(28, 8), bmsk(32, 32), bmsk(0, 32)], [0xff0, 0xf000_0000, 0, 0xffff_ffff]);
    }

    #[test]
    fn bytes_and_products() {
        assert_eq!(prmt(0x4433_2211, 0x8877_6655, 0x7320), 0x8844_3311);
        assert_eq!(prmt(0x80, 0, 0x8888), 0xffff_ffff);
        assert_eq!([lop3(0b1100, 0b1010, 0, 0xc0), lop3(0b1100, 0b1010, 0b0110, 0x96)], [0b1000, 0]);
        assert_eq!(low(dp4a(0x01ff_0203, 0x0102_03ff, 10, (true, true)), 32), 10 + 1 - 2 + 6 - 3);
        assert_eq!(dp2a(0x0002_0003, 0x0405_0607, 1, (false, false), false), 1 + 3 * 7 + 2 * 6);
        assert_eq!(dp2a(0x0002_0003, 0x0405_0607, 1, (false, false), true), 1 + 3 * 5 + 2 * 4);
        assert_eq!([saturated(-5, 8, false), saturated(300, 8, true), saturated(7, 8, true)], [0, 127, 7]);
        assert_eq!([mul24(0x0100_0002, 3, false), low(mul24(0x00ff_ffff, 2, true), 32)], [6, 0xffff_fffe]);
        assert_eq!(high64(u64::MAX, u64::MAX, true), 0);
        assert_eq!(halves(0x0001_ffff, 0x0001_0001, |a, b| a + b), 0x0002_0000);
    }
}

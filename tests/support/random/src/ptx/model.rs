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

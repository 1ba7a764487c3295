//! Funnel shifts, byte permutations, and any function of three bits.

macro_rules! funnels {
    ($($(#[$doc:meta])* $name:ident $symbol:literal |$both:ident, $shift:ident| $host:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name(low: u32, high: u32, shift: u32) -> u32 {
            instruction!($symbol, (low: u32, high: u32, shift: u32) -> u32, {
                let ($both, $shift) = (u64::from(high) << 32 | u64::from(low), shift);
                $host
            })
        }
    )*};
}
funnels! {
    /// The upper word of `high` and `low`, shifted left by `shift % 32`: CUDA's `__funnelshift_l`, PTX `shf.l.wrap.b32`.
    funnel_left "__ptx_shf.l.wrap.b32" |both, shift| (both << (shift & 31) >> 32) as u32;
    /// The upper word of `high` and `low`, shifted left by `shift`, at most 32: CUDA's `__funnelshift_lc`, PTX
    /// `shf.l.clamp.b32`.
    funnel_left_clamp "__ptx_shf.l.clamp.b32" |both, shift| (both << shift.min(32) >> 32) as u32;
    /// The lower word of `high` and `low`, shifted right by `shift % 32`: CUDA's `__funnelshift_r`, PTX `shf.r.wrap.b32`.
    funnel_right "__ptx_shf.r.wrap.b32" |both, shift| (both >> (shift & 31)) as u32;
    /// The lower word of `high` and `low`, shifted right by `shift`, at most 32: CUDA's `__funnelshift_rc`, PTX
    /// `shf.r.clamp.b32`.
    funnel_right_clamp "__ptx_shf.r.clamp.b32" |both, shift| (both >> shift.min(32)) as u32;
}

/// Four of the eight bytes of `low` (0 to 3) and `high` (4 to 7), those that the lower four bits of each half-byte of
/// `selector` say, the lowest first: CUDA's `__byte_perm` where no half-byte has its highest bit set, PTX `prmt.b32`.
///
/// With that bit, the byte is all copies of the chosen byte's sign, which `__byte_perm` leaves out.
#[inline(always)]
#[must_use]
pub fn permute_signs(low: u32, high: u32, selector: u32) -> u32 {
    instruction!("__ptx_prmt.b32", (low: u32, high: u32, selector: u32) -> u32, {
        let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
        u32::from_le_bytes(core::array::from_fn(|place| {
            let choice = selector >> (4 * place);
            let byte = bytes[choice as usize & 7];
            if choice & 8 == 0 { byte } else { byte.cast_signed().wrapping_shr(7).cast_unsigned() }
        }))
    })
}

/// Four of the eight bytes of `low` (0 to 3) and `high` (4 to 7), those that the lower three bits of each half-byte of
/// `selector` say, the lowest first: CUDA's `__byte_perm`, PTX `prmt.b32`.
#[inline(always)]
#[must_use]
pub fn byte_perm(low: u32, high: u32, selector: u32) -> u32 {
    permute_signs(low, high, selector & 0x7777)
}

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident $symbol:literal |$place:ident, $by:ident| $byte:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name(low: u32, high: u32, by: u32) -> u32 {
            instruction!($symbol, (low: u32, high: u32, by: u32) -> u32, {
                let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
                let $by = by as usize & 3;
                u32::from_le_bytes(core::array::from_fn(|$place| bytes[$byte]))
            })
        }
    )*};
}
modes! {
    /// Four bytes of `low` and `high` from byte `by % 4` on, upwards: PTX `prmt.b32.f4e`.
    permute_forward "__ptx_prmt.b32.f4e" |place, by| by + place;
    /// Four bytes of `low` and `high` from byte `by % 4` on, downwards, after byte 0 comes byte 7: PTX `prmt.b32.b4e`.
    permute_backward "__ptx_prmt.b32.b4e" |place, by| (8 + by - place) & 7;
    /// Byte `by % 4` of `low`, four times: PTX `prmt.b32.rc8`.
    permute_replicate "__ptx_prmt.b32.rc8" |_place, by| by;
    /// The bytes of `low`, those below byte `by % 4` replaced by it: PTX `prmt.b32.ecl`.
    permute_clamp_left "__ptx_prmt.b32.ecl" |place, by| place.max(by);
    /// The bytes of `low`, those above byte `by % 4` replaced by it: PTX `prmt.b32.ecr`.
    permute_clamp_right "__ptx_prmt.b32.ecr" |place, by| place.min(by);
    /// The lower or upper half of `low`, by the lowest bit of `by`, twice: PTX `prmt.b32.rc16`.
    permute_replicate_half "__ptx_prmt.b32.rc16" |place, by| 2 * (by & 1) + (place & 1);
}

/// Any function of three bits, bit by bit, by its table: bit `4a + 2b + c` of `TABLE` is the value of `a`, `b`, `c`. The
/// table of a formula is the formula of `0xf0`, `0xcc` and `0xaa`: `lop3::<{ 0xf0 & 0xcc ^ 0xaa }>`. It is
/// written as a formula, of which ptxas makes one to three `LOP3`; PTX has it as `lop3.b32`.
///
/// ```
/// use ptx::bits::lop3;
///
/// assert_eq!(lop3::<{ (0xf0 & 0xcc) ^ 0xaa }>(12, 10, 3), (12 & 10) ^ 3);
/// ```
#[inline(always)]
#[must_use]
pub const fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    // A formula, not the instruction, so that what follows from constants is known when the code is compiled.
    let (high, low) = (pair::<TABLE>(4, b, c), pair::<TABLE>(0, b, c));
    a & high | !a & low
}

const fn pair<const TABLE: u8>(first: u32, b: u32, c: u32) -> u32 {
    b & one::<TABLE>(first + 2, c) | !b & one::<TABLE>(first, c)
}

const fn one<const TABLE: u8>(first: u32, c: u32) -> u32 {
    match TABLE >> first & 3 {
        0 => 0,
        1 => !c,
        2 => c,
        _ => u32::MAX,
    }
}

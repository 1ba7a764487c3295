//! Products, sums and dot products of integers.

macro_rules! mulhi {
    ($($(#[$doc:meta])* $name:ident $ty:ident $wide:ident $bits:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub const fn $name(a: $ty, b: $ty) -> $ty {
            ((a as $wide * b as $wide) >> $bits) as $ty
        }
    )*};
}
mulhi! {
    /// The high half of the product: CUDA's `__mulhi`, PTX `mul.hi.s32`.
    mulhi i32 i64 32;
    /// The high half of the product: CUDA's `__umulhi`, PTX `mul.hi.u32`.
    mulhi_u32 u32 u64 32;
    /// The high half of the product: CUDA's `__mul64hi`, PTX `mul.hi.s64`.
    mulhi_i64 i64 i128 64;
    /// The high half of the product: CUDA's `__umul64hi`, PTX `mul.hi.u64`.
    mulhi_u64 u64 u128 64;
}

macro_rules! integers {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),*) $ty:ident = $symbol:literal, $host:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name($($operand: $ty),*) -> $ty {
            instruction!($symbol, ($($operand: $ty),*) -> $ty, $host)
        }
    )*};
}
integers! {
    /// The low half of the product of the lowest 24 bits: CUDA's `__mul24`, PTX `mul24.lo.s32`.
    mul24(a, b) i32 = "__ptx_mul24.lo.s32", (a << 8 >> 8).wrapping_mul(b << 8 >> 8);
    /// The low half of the product of the lowest 24 bits: CUDA's `__umul24`, PTX `mul24.lo.u32`.
    mul24_u32(a, b) u32 = "__ptx_mul24.lo.u32", (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff);
    /// Bits 16 to 47 of the product of the lowest 24 bits: PTX `mul24.hi.s32`.
    mul24_hi(a, b) i32 = "__ptx_mul24.hi.s32", ((i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)) >> 16) as i32;
    /// Bits 16 to 47 of the product of the lowest 24 bits: PTX `mul24.hi.u32`.
    mul24_hi_u32(a, b) u32 = "__ptx_mul24.hi.u32", ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32;
    /// `mul24(a, b) + c`, wrapping: PTX `mad24.lo.s32`.
    mad24(a, b, c) i32 = "__ptx_mad24.lo.s32", mul24(a, b).wrapping_add(c);
    /// `mul24_u32(a, b) + c`, wrapping: PTX `mad24.lo.u32`.
    mad24_u32(a, b, c) u32 = "__ptx_mad24.lo.u32", mul24_u32(a, b).wrapping_add(c);
    /// `mul24_hi(a, b) + c`, wrapping: PTX `mad24.hi.s32`.
    mad24_hi(a, b, c) i32 = "__ptx_mad24.hi.s32", mul24_hi(a, b).wrapping_add(c);
    /// `mul24_hi_u32(a, b) + c`, wrapping: PTX `mad24.hi.u32`.
    mad24_hi_u32(a, b, c) u32 = "__ptx_mad24.hi.u32", mul24_hi_u32(a, b).wrapping_add(c);
    /// `mulhi(a, b) + c`, wrapping: PTX `mad.hi.s32`.
    mad_hi(a, b, c) i32 = "__ptx_mad.hi.s32", mulhi(a, b).wrapping_add(c);
    /// `mulhi_u32(a, b) + c`, wrapping: PTX `mad.hi.u32`.
    mad_hi_u32(a, b, c) u32 = "__ptx_mad.hi.u32", mulhi_u32(a, b).wrapping_add(c);
    /// `mulhi_i64(a, b) + c`, wrapping: PTX `mad.hi.s64`.
    mad_hi_i64(a, b, c) i64 = "__ptx_mad.hi.s64", mulhi_i64(a, b).wrapping_add(c);
    /// `mulhi_u64(a, b) + c`, wrapping: PTX `mad.hi.u64`.
    mad_hi_u64(a, b, c) u64 = "__ptx_mad.hi.u64", mulhi_u64(a, b).wrapping_add(c);
    /// `mulhi(a, b) + c`, clamped to the range of `i32`: PTX `mad.hi.sat.s32`.
    mad_hi_sat(a, b, c) i32 = "__ptx_mad.hi.sat.s32", mulhi(a, b).saturating_add(c);
    /// `a + b`, clamped to the range of `i32`, as `i32::saturating_add`: PTX `add.sat.s32`.
    add_sat(a, b) i32 = "__ptx_add.sat.s32", a.saturating_add(b);
    /// `a - b`, clamped to the range of `i32`, as `i32::saturating_sub`: PTX `sub.sat.s32`.
    sub_sat(a, b) i32 = "__ptx_sub.sat.s32", a.saturating_sub(b);
    /// `|a - b| + c`, wrapping, of 64 bits: PTX `sad.u64`.
    sad_u64(a, b, c) u64 = "__ptx_sad.u64", a.abs_diff(b).wrapping_add(c);
    /// `|a - b| + c`, wrapping, without a sign: CUDA's `__usad`, PTX `sad.u32`.
    sad_u32(a, b, c) u32 = "__ptx_sad.u32", a.abs_diff(b).wrapping_add(c);
}

/// `|a - b| + c`, wrapping: CUDA's `__sad`, PTX `sad.s32`.
#[inline(always)]
#[must_use]
pub fn sad(a: i32, b: i32, c: u32) -> u32 {
    instruction!("__ptx_sad.s32", (a: i32, b: i32, c: u32) -> u32, a.abs_diff(b).wrapping_add(c))
}

/// `|a - b| + c`, wrapping, of 64 bits: PTX `sad.s64`.
#[inline(always)]
#[must_use]
pub fn sad_i64(a: i64, b: i64, c: u64) -> u64 {
    instruction!("__ptx_sad.s64", (a: i64, b: i64, c: u64) -> u64, a.abs_diff(b).wrapping_add(c))
}

macro_rules! averages {
    ($($(#[$doc:meta])* $name:ident $ty:ident $round:tt;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub const fn $name(a: $ty, b: $ty) -> $ty {
            averages!(@ $round, a, b)
        }
    )*};
    (@ 0, $a:ident, $b:ident) => { ($a & $b).wrapping_add(($a ^ $b) >> 1) };
    (@ 1, $a:ident, $b:ident) => { ($a | $b).wrapping_sub(($a ^ $b) >> 1) };
}
averages! {
    /// The mean, rounded down: CUDA's `__hadd`.
    hadd i32 0;
    /// The mean, rounded down: CUDA's `__uhadd`.
    hadd_u32 u32 0;
    /// The mean, rounded up: CUDA's `__rhadd`.
    rhadd i32 1;
    /// The mean, rounded up: CUDA's `__urhadd`.
    rhadd_u32 u32 1;
}

/// The four bytes of a word as numbers.
#[cfg(not(target_arch = "nvptx64"))]
fn bytes(word: u32, signed: bool) -> [i32; 4] {
    word.to_le_bytes().map(|byte| if signed { i32::from(byte.cast_signed()) } else { i32::from(byte) })
}

/// The two halves of a word as numbers.
#[cfg(not(target_arch = "nvptx64"))]
fn halves(word: u32, signed: bool) -> [i32; 2] {
    [word as u16, (word >> 16) as u16].map(|half| if signed { i32::from(half.cast_signed()) } else { i32::from(half) })
}

macro_rules! dots {
    ($($(#[$doc:meta])* $name:ident($a:literal, $b:literal) $ty:ident = $symbol:literal, $lanes:ident, $first:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name(a: u32, b: u32, c: $ty) -> $ty {
            instruction!($symbol, (a: u32, b: u32, c: $ty) -> $ty, {
                let pairs = $lanes(a, $a).into_iter().zip(bytes(b, $b).into_iter().skip($first));
                pairs.fold(c, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(b) as $ty))
            })
        }
    )*};
}
dots! {
    /// `c` and the products of the four bytes, all signed: CUDA's `__dp4a(int, int, int)`, PTX `dp4a.s32.s32`.
    dp4a(true, true) i32 = "__ptx_dp4a.s32.s32", bytes, 0;
    /// `c` and the products of the four bytes, none signed: CUDA's `__dp4a(unsigned, …)`, PTX `dp4a.u32.u32`.
    dp4a_u32(false, false) u32 = "__ptx_dp4a.u32.u32", bytes, 0;
    /// `c` and the products of the four bytes, those of `a` signed: PTX `dp4a.s32.u32`.
    dp4a_su(true, false) i32 = "__ptx_dp4a.s32.u32", bytes, 0;
    /// `c` and the products of the four bytes, those of `b` signed: PTX `dp4a.u32.s32`.
    dp4a_us(false, true) i32 = "__ptx_dp4a.u32.s32", bytes, 0;
    /// `c` and the products of `a`'s halves with `b`'s lower two bytes, all signed: CUDA's `__dp2a_lo`, PTX
    /// `dp2a.lo.s32.s32`.
    dp2a_lo(true, true) i32 = "__ptx_dp2a.lo.s32.s32", halves, 0;
    /// The same, none signed: PTX `dp2a.lo.u32.u32`.
    dp2a_lo_u32(false, false) u32 = "__ptx_dp2a.lo.u32.u32", halves, 0;
    /// The same, `a`'s signed: PTX `dp2a.lo.s32.u32`.
    dp2a_lo_su(true, false) i32 = "__ptx_dp2a.lo.s32.u32", halves, 0;
    /// The same, `b`'s signed: PTX `dp2a.lo.u32.s32`.
    dp2a_lo_us(false, true) i32 = "__ptx_dp2a.lo.u32.s32", halves, 0;
    /// `c` and the products of `a`'s halves with `b`'s upper two bytes, all signed: CUDA's `__dp2a_hi`, PTX
    /// `dp2a.hi.s32.s32`.
    dp2a_hi(true, true) i32 = "__ptx_dp2a.hi.s32.s32", halves, 2;
    /// The same, none signed: PTX `dp2a.hi.u32.u32`.
    dp2a_hi_u32(false, false) u32 = "__ptx_dp2a.hi.u32.u32", halves, 2;
    /// The same, `a`'s signed: PTX `dp2a.hi.s32.u32`.
    dp2a_hi_su(true, false) i32 = "__ptx_dp2a.hi.s32.u32", halves, 2;
    /// The same, `b`'s signed: PTX `dp2a.hi.u32.s32`.
    dp2a_hi_us(false, true) i32 = "__ptx_dp2a.hi.u32.s32", halves, 2;
}

//! Finding bits, and fields of bits.

/// The place of the lowest bit that is set, counted from 1; 0 if there is none: CUDA's `__ffs`, PTX `brev.b32` and
/// `bfind.shiftamt.u32`.
#[inline(always)]
#[must_use]
pub fn ffs(value: u32) -> u32 {
    bfind_shift(value.reverse_bits()).wrapping_add(1)
}

/// The same of 64 bits: CUDA's `__ffsll`.
#[inline(always)]
#[must_use]
pub const fn ffs_64(value: u64) -> u32 {
    if value == 0 { 0 } else { value.trailing_zeros() + 1 }
}

/// The place of the highest bit that is set, `u32::MAX` if there is none: PTX `bfind.u32`. CUDA C++ has no function.
#[inline(always)]
#[must_use]
pub fn bfind(value: u32) -> u32 {
    instruction!("__ptx_bfind.u32", (value: u32) -> u32, 31_u32.wrapping_sub(value.leading_zeros()))
}

/// The place of the highest bit that differs from the sign, `u32::MAX` if there is none: PTX `bfind.s32`.
#[inline(always)]
#[must_use]
pub fn bfind_i32(value: i32) -> u32 {
    instruction!("__ptx_bfind.s32", (value: i32) -> u32, {
        31_u32.wrapping_sub((value ^ value >> 31).leading_zeros())
    })
}

/// The same as [`bfind`] of 64 bits: PTX `bfind.u64`.
#[inline(always)]
#[must_use]
pub fn bfind_u64(value: u64) -> u32 {
    instruction!("__ptx_bfind.u64", (value: u64) -> u32, 63_u32.wrapping_sub(value.leading_zeros()))
}

/// The same as [`bfind_i32`] of 64 bits: PTX `bfind.s64`.
#[inline(always)]
#[must_use]
pub fn bfind_i64(value: i64) -> u32 {
    instruction!("__ptx_bfind.s64", (value: i64) -> u32, {
        63_u32.wrapping_sub((value ^ value >> 63).leading_zeros())
    })
}

/// By how much to shift left until the highest bit that is set is the first, `u32::MAX` if there is none: PTX
/// `bfind.shiftamt.u32`.
#[inline(always)]
#[must_use]
pub fn bfind_shift(value: u32) -> u32 {
    instruction!("__ptx_bfind.shiftamt.u32", (value: u32) -> u32, {
        if value == 0 { u32::MAX } else { value.leading_zeros() }
    })
}

/// The same for the highest bit that differs from the sign: PTX `bfind.shiftamt.s32`.
#[inline(always)]
#[must_use]
pub fn bfind_shift_i32(value: i32) -> u32 {
    instruction!("__ptx_bfind.shiftamt.s32", (value: i32) -> u32, {
        let bits = value ^ value >> 31;
        if bits == 0 { u32::MAX } else { bits.leading_zeros() }
    })
}

/// The same as [`bfind_shift`] of 64 bits: PTX `bfind.shiftamt.u64`.
#[inline(always)]
#[must_use]
pub fn bfind_shift_u64(value: u64) -> u32 {
    instruction!("__ptx_bfind.shiftamt.u64", (value: u64) -> u32, {
        if value == 0 { u32::MAX } else { value.leading_zeros() }
    })
}

/// The same as [`bfind_shift_i32`] of 64 bits: PTX `bfind.shiftamt.s64`.
#[inline(always)]
#[must_use]
pub fn bfind_shift_i64(value: i64) -> u32 {
    instruction!("__ptx_bfind.shiftamt.s64", (value: i64) -> u32, {
        let bits = value ^ value >> 63;
        if bits == 0 { u32::MAX } else { bits.leading_zeros() }
    })
}

/// `len` bits from bit `start` on, zeros above them: PTX `bfe.u32`. Of both only the lowest eight bits count; bits past
/// the end are zeros.
#[inline(always)]
#[must_use]
pub fn bfe(value: u32, start: u32, len: u32) -> u32 {
    instruction!("__ptx_bfe.u32", (value: u32, start: u32, len: u32) -> u32, {
        (u64::from(value) >> (start & 0xff).min(63)) as u32 & low(len)
    })
}

/// `len` bits from bit `start` on, the last of them being the sign: PTX `bfe.s32`. Of both only the lowest eight bits
/// count; bits past the end are copies of `value`'s sign. No bits are 0.
#[inline(always)]
#[must_use]
pub fn bfe_i32(value: i32, start: u32, len: u32) -> i32 {
    instruction!("__ptx_bfe.s32", (value: i32, start: u32, len: u32) -> i32, {
        field(i64::from(value), start, len, 31) as i32
    })
}

/// The same as [`bfe`] of 64 bits: PTX `bfe.u64`.
#[inline(always)]
#[must_use]
pub fn bfe_u64(value: u64, start: u32, len: u32) -> u64 {
    instruction!("__ptx_bfe.u64", (value: u64, start: u32, len: u32) -> u64, {
        (u128::from(value) >> (start & 0xff).min(127)) as u64 & low_64(len)
    })
}

/// The same as [`bfe_i32`] of 64 bits: PTX `bfe.s64`.
#[inline(always)]
#[must_use]
pub fn bfe_i64(value: i64, start: u32, len: u32) -> i64 {
    instruction!("__ptx_bfe.s64", (value: i64, start: u32, len: u32) -> i64, field(value, start, len, 63))
}

/// `base` with `len` bits from bit `start` on taken from the lowest of `field`: PTX `bfi.b32`. Of both numbers only the
/// lowest eight bits count; bits past the end are left out.
#[inline(always)]
#[must_use]
pub fn bfi(field: u32, base: u32, start: u32, len: u32) -> u32 {
    instruction!("__ptx_bfi.b32", (field: u32, base: u32, start: u32, len: u32) -> u32, {
        let mask = (u64::from(low(len)) << (start & 0xff).min(63)) as u32;
        base & !mask | (u64::from(field) << (start & 0xff).min(63)) as u32 & mask
    })
}

/// The same of 64 bits: PTX `bfi.b64`.
#[inline(always)]
#[must_use]
pub fn bfi_u64(field: u64, base: u64, start: u32, len: u32) -> u64 {
    instruction!("__ptx_bfi.b64", (field: u64, base: u64, start: u32, len: u32) -> u64, {
        let mask = (u128::from(low_64(len)) << (start & 0xff).min(127)) as u64;
        base & !mask | (u128::from(field) << (start & 0xff).min(127)) as u64 & mask
    })
}

/// `len` bits that are set from bit `start` on, those past the end left out: PTX `bmsk.clamp.b32`, from PTX ISA 7.6.
#[inline(always)]
#[must_use]
pub fn bmsk_clamp(start: u32, len: u32) -> u32 {
    instruction!("__ptx_bmsk.clamp.b32", (start: u32, len: u32) -> u32, {
        (((1_u64 << len.min(32)) - 1) << start.min(32)) as u32
    })
}

/// The same, of `start` and `len` only the lowest five bits: PTX `bmsk.wrap.b32`, from PTX ISA 7.6.
#[inline(always)]
#[must_use]
pub fn bmsk_wrap(start: u32, len: u32) -> u32 {
    instruction!("__ptx_bmsk.wrap.b32", (start: u32, len: u32) -> u32, ((1_u32 << (len & 31)) - 1) << (start & 31))
}

/// The lowest `len` bits, the last of them being the sign; all if there are more than 31: PTX `szext.clamp.s32`, from
/// PTX ISA 7.6.
#[inline(always)]
#[must_use]
pub fn sign_extend(value: i32, len: u32) -> i32 {
    instruction!("__ptx_szext.clamp.s32", (value: i32, len: u32) -> i32, extended(value, len.min(32)))
}

/// The same, of `len` only the lowest five bits: PTX `szext.wrap.s32`, from PTX ISA 7.6.
#[inline(always)]
#[must_use]
pub fn sign_extend_wrap(value: i32, len: u32) -> i32 {
    instruction!("__ptx_szext.wrap.s32", (value: i32, len: u32) -> i32, extended(value, len & 31))
}

/// The lowest `len` bits, all if there are more than 31: PTX `szext.clamp.u32`, from PTX ISA 7.6.
#[inline(always)]
#[must_use]
pub fn zero_extend(value: u32, len: u32) -> u32 {
    instruction!("__ptx_szext.clamp.u32", (value: u32, len: u32) -> u32, value & low(len.min(32)))
}

/// The same, of `len` only the lowest five bits: PTX `szext.wrap.u32`, from PTX ISA 7.6.
#[inline(always)]
#[must_use]
pub fn zero_extend_wrap(value: u32, len: u32) -> u32 {
    instruction!("__ptx_szext.wrap.u32", (value: u32, len: u32) -> u32, value & low(len & 31))
}

/// The place of the `offset`th bit that is set from bit `base` on, upwards; downwards if `offset` is negative; `u32::MAX`
/// if there is none. For `offset` 0, `base` itself if that bit is set: CUDA's `__fns`, PTX `fns.b32`.
///
/// `base` is at most 31. GPUs do this in many steps.
#[inline(always)]
#[must_use]
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __ptx_fns(mask: u32, base: u32, offset: i32) -> u32;
        }
        __ptx_fns(mask, base, offset)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let (mut place, mut left) = (i64::from(base), offset.unsigned_abs());
        if offset == 0 {
            return if base < 32 && mask >> base & 1 != 0 { base } else { u32::MAX };
        }
        while (0..32).contains(&place) {
            left -= mask >> place & 1;
            if left == 0 {
                return place as u32;
            }
            place += i64::from(offset.signum());
        }
        u32::MAX
    }
}

/// The lowest bits of a word, of whose number eight bits count.
#[cfg(not(target_arch = "nvptx64"))]
fn low(len: u32) -> u32 {
    1_u32.checked_shl(len & 0xff).map_or(u32::MAX, |bit| bit - 1)
}

#[cfg(not(target_arch = "nvptx64"))]
fn low_64(len: u32) -> u64 {
    1_u64.checked_shl(len & 0xff).map_or(u64::MAX, |bit| bit - 1)
}

#[cfg(not(target_arch = "nvptx64"))]
fn extended(value: i32, len: u32) -> i32 {
    if len == 0 { 0 } else { value << (32 - len) >> (32 - len) }
}

/// As the PTX ISA describes `bfe`: bit by bit, the sign being the last bit of the field, or of the value if that ends first.
#[cfg(not(target_arch = "nvptx64"))]
fn field(value: i64, start: u32, len: u32, msb: u32) -> i64 {
    let (start, len) = (start & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let sign = value >> (start + len - 1).min(msb) & 1;
    let bit = |place: u32| if place < len && start + place <= msb { value >> (start + place) & 1 } else { sign };
    (0..=msb).fold(if sign == 1 && msb < 63 { -1 << (msb + 1) } else { 0 }, |all, place| all | bit(place) << place)
}

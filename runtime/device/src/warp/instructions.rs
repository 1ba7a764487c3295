//! The instructions of a warp: names of the compiler's intrinsics, and what the CPU does where it runs a kernel.

use ptx_abi::bits::Plain;

#[cfg(not(target_arch = "nvptx64"))]
use crate::cpu;

/// Most bytes of a value that goes from lane to lane.
pub(super) const MOST_BYTES: usize = 64;

crate::intrinsics::intrinsics! {
    /// `activemask`
    activemask = __ptx_activemask() -> u32 => 1 << cpu::lane();
    /// `%lanemask_lt`
    lanemask_lt = __ptx_lanemask_lt() -> u32 => cpu::warp::below();
    /// `%lanemask_le`
    lanemask_le = __ptx_lanemask_le() -> u32 => cpu::warp::below() << 1 | 1;
    /// `%lanemask_gt`
    lanemask_gt = __ptx_lanemask_gt() -> u32 => !(cpu::warp::below() << 1 | 1);
    /// `%lanemask_ge`
    lanemask_ge = __ptx_lanemask_ge() -> u32 => !cpu::warp::below();
    /// `shfl.sync.idx`
    shfl_idx = __ptx_shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32 => cpu::warp::shfl_idx(mask, value, lane, clamp);
    /// `shfl.sync.up`
    shfl_up = __ptx_shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32 => cpu::warp::shfl_up(mask, value, delta, clamp).0;
    /// `shfl.sync.down`
    shfl_down = __ptx_shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32 => cpu::warp::shfl_down(mask, value, delta, clamp).0;
    /// `shfl.sync.bfly`
    shfl_bfly = __ptx_shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32 => cpu::warp::shfl_bfly(mask, value, lanes, clamp);
    /// `shfl.sync.up` with whether there is such a lane, in bit 32
    shfl_up_pair = __ptx_shfl_up_pair(mask: u32, value: u32, delta: u32, clamp: u32) -> u64 => cpu::warp::pair(cpu::warp::shfl_up(mask, value, delta, clamp));
    /// `shfl.sync.down`, likewise
    shfl_down_pair = __ptx_shfl_down_pair(mask: u32, value: u32, delta: u32, clamp: u32) -> u64 => cpu::warp::pair(cpu::warp::shfl_down(mask, value, delta, clamp));
    /// `vote.sync.all`
    vote_all = __ptx_vote_all(mask: u32, condition: bool) -> bool => cpu::warp::all(mask, condition);
    /// `vote.sync.any`
    vote_any = __ptx_vote_any(mask: u32, condition: bool) -> bool => cpu::warp::ballot(mask, condition) != 0;
    /// `vote.sync.uni`
    vote_uni = __ptx_vote_uni(mask: u32, condition: bool) -> bool => cpu::warp::uniform(mask, condition);
    /// `vote.sync.ballot`
    vote_ballot = __ptx_vote_ballot(mask: u32, condition: bool) -> u32 => cpu::warp::ballot(mask, condition);
    /// `match.any.sync.b32`
    match_any_32 = __ptx_match_any_32(mask: u32, value: u32) -> u32 => cpu::warp::match_any(mask, value.into());
    /// `match.any.sync.b64`
    match_any_64 = __ptx_match_any_64(mask: u32, value: u64) -> u32 => cpu::warp::match_any(mask, value);
    /// `match.all.sync.b32`; bit 32 says whether all are equal
    match_all_32 = __ptx_match_all_32(mask: u32, value: u32) -> u64 => cpu::warp::match_all(mask, value.into());
    /// `match.all.sync.b64`, likewise
    match_all_64 = __ptx_match_all_64(mask: u32, value: u64) -> u64 => cpu::warp::match_all(mask, value);
    /// `redux.sync.add`
    redux_add = __ptx_redux_add(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, u32::wrapping_add);
    /// `redux.sync.min.u32`
    redux_umin = __ptx_redux_umin(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, u32::min);
    /// `redux.sync.max.u32`
    redux_umax = __ptx_redux_umax(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, u32::max);
    /// `redux.sync.min.s32`
    redux_min = __ptx_redux_min(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, |a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned());
    /// `redux.sync.max.s32`
    redux_max = __ptx_redux_max(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned());
    /// `redux.sync.and`
    redux_and = __ptx_redux_and(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, |a, b| a & b);
    /// `redux.sync.or`
    redux_or = __ptx_redux_or(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, |a, b| a | b);
    /// `redux.sync.xor`
    redux_xor = __ptx_redux_xor(value: u32, mask: u32) -> u32 => cpu::warp::reduce(mask, value, |a, b| a ^ b);
    /// `elect.sync`; bit 32 says whether the caller is elected
    elect = __ptx_elect(mask: u32) -> u64 => cpu::warp::elect(mask);
}

/// A value whose every 32 bits went through `word`.
#[inline(always)]
pub fn by_words<T: Plain + Copy>(value: T, mut word: impl FnMut(u32) -> u32) -> T {
    const { assert!(size_of::<T>() <= MOST_BYTES, "a value of more than 64 bytes cannot go from lane to lane") };
    let mut words = [0_u32; MOST_BYTES / 4];
    let mut result = value;
    // SAFETY: so many bytes fit, all of them are initialised, and any bytes are a value of such a type.
    unsafe {
        core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), words.as_mut_ptr().cast(), size_of::<T>());
        for word_of_it in &mut words[..size_of::<T>().div_ceil(4)] {
            *word_of_it = word(*word_of_it);
        }
        core::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), (&raw mut result).cast(), size_of::<T>());
    }
    result
}

/// The same, where each word comes with whether there is one, in bit 32.
#[inline(always)]
pub fn by_words_if<T: Plain + Copy>(value: T, mut word: impl FnMut(u32) -> u64) -> Option<T> {
    let mut is_there = true;
    let result = by_words(value, |of_it| {
        let both = word(of_it);
        is_there = both >> 32 != 0;
        both as u32
    });
    if is_there { Some(result) } else { None }
}

/// The bits of a value of at most eight bytes, the rest zeros.
#[inline(always)]
pub fn bits_of<T: Plain + Copy>(value: T) -> u64 {
    const { assert!(size_of::<T>() <= 8, "only values of at most eight bytes are compared in one instruction") };
    let mut bits = 0_u64;
    // SAFETY: so many bytes fit, and all of them are initialised.
    unsafe { core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), (&raw mut bits).cast(), size_of::<T>()) };
    bits
}

/// The last lane that a lane of a segment of `width` lanes may read, and which bits of the lane's number are the segment's
/// (PTX ISA, "shfl.sync": operand `c`).
#[inline(always)]
pub const fn clamp(width: u32) -> u32 {
    (32 - width) << 8 | 0x1f
}

/// The same for `shfl.sync.up`, where the segment's first lane is the limit.
#[inline(always)]
pub const fn clamp_up(width: u32) -> u32 {
    (32 - width) << 8
}

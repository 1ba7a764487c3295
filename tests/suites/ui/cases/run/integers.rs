//! Arithmetic of every width: wrapping, saturating, checked, bits.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 200000 410943000 2176116430 33023 7019 2752779225 81952 585 7 3 62747 256654120
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    // Not known to the compiler, so that nothing is computed at compile time.
    let x = core::hint::black_box(0x89ab_cdef_u32.wrapping_mul(i | 1));
    match i {
        0 => x.leading_zeros() + 100 * x.trailing_zeros() + 10_000 * x.count_ones(),
        1 => x.reverse_bits() ^ x.swap_bytes(),
        2 => x.rotate_left(i + 5),
        3 => (x as u8).saturating_add(200) as u32 | ((x as i8).saturating_sub(100) as u8 as u32) << 8,
        4 => (x as i16).wrapping_mul(321) as u32,
        5 => (u64::from(x) * u64::from(x) >> 17) as u32,
        6 => (i64::from(x as i32) / 12_345).unsigned_abs() as u32,
        7 => (x as i32).rem_euclid(1000) as u32,
        8 => x.checked_add(x).map_or(7, |sum| sum / 2),
        9 => x.overflowing_sub(u32::MAX).1 as u32 + 2,
        10 => x.isqrt() + x.ilog2() + x.ilog10(),
        _ => x.abs_diff(0x7000_0000) >> 3,
    }
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

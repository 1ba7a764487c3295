//! 128-bit integers: products, quotients and remainders, shifts.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 2595125654 572662305 3948852674 98740 2559084683 1145324611 70 2976985091
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    let x = core::hint::black_box(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211_u128.wrapping_mul(u128::from(i) + 3));
    let y = core::hint::black_box(0x1_0000_0000_0000_000b_u128 + u128::from(i));
    let result = match i {
        0 => x.wrapping_mul(y),
        1 => x / y,
        2 => x % y,
        3 => x << (y as u32 % 100),
        4 => x >> 67,
        5 => ((x as i128) / -(y as i128)).unsigned_abs(),
        6 => u128::from(x.leading_zeros()) + u128::from(x.count_ones()),
        _ => x.wrapping_sub(y) / 10,
    };
    (result ^ result >> 32 ^ result >> 64 ^ result >> 96) as u32
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

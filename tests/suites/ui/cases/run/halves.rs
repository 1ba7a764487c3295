//! The primitive type `f16`: remainders, conversions of 128 bits, sums and quotients.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 1039826214 3688830686 3292290729 3166871188 3099795124 2108805614 783541535 2273641901
#![no_std]
#![feature(f16)]
use ptx::prelude::*;

/// Numbers of every size, and those that are none.
const NUMBERS: [u16; 12] =
    [0x0000, 0x8001, 0x03ff, 0x0400, 0x3555, 0x3c00, 0xc248, 0x63d0, 0xe800, 0x7bff, 0xfc00, 0x7e00];

fn fold(sum: u128, value: u128) -> u128 {
    sum.rotate_left(11) ^ value
}

/// The bits, of any number that is none the same.
fn bits(x: f16) -> u128 {
    if x.is_nan() { 0x7e00 } else { x.to_bits().into() }
}

fn value(i: u32) -> u32 {
    let mut sum = 0;
    for a in core::hint::black_box(NUMBERS).map(f16::from_bits) {
        for b in core::hint::black_box(NUMBERS).map(f16::from_bits) {
            let wide = u128::from(a.to_bits()) << (b.to_bits() % 20);
            sum = match i {
                0 => fold(sum, bits(a % b)),
                1 => fold(sum, a as u128),
                2 => fold(sum, a as i128 as u128),
                3 => fold(sum, bits(wide as f16)),
                4 => fold(sum, bits(-(wide as i128) as f16)),
                5 => fold(sum, bits(a + b)),
                6 => fold(sum, bits(a / b)),
                _ => fold(fold(sum, a as u8 as u128), b as i32 as u128),
            };
        }
    }
    (sum ^ sum >> 32 ^ sum >> 64 ^ sum >> 96) as u32
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

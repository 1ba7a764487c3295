//! Casts of floats to integers: beyond the limits, of what is no number, and in between.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 4015071375 2530593259 518314068 55380565 4015071375 2530593259 3775604651 1705501847
#![no_std]
use ptx::prelude::*;

/// Numbers around every limit, of both signs, and those that no integer is.
const NUMBERS: [f64; 20] = [
    0.0,
    0.99,
    1.5,
    2.5,
    127.0,
    127.99,
    128.0,
    255.5,
    256.0,
    32767.9,
    65535.0,
    65536.0,
    2147483647.5,
    4294967040.0,
    9.3e18,
    1.9e19,
    1.8e38,
    3.0e38,
    f64::INFINITY,
    f64::NAN,
];

/// All casts of a number to integers of a width, one after the other.
macro_rules! casts {
    ($x:expr, $sum:expr, $($int:ty)*) => {
        {
            $($sum = fold($sum, ($x as $int) as u128);)*
        }
    };
}

fn fold(sum: u128, value: u128) -> u128 {
    sum.rotate_left(11) ^ value
}

fn value(i: u32) -> u32 {
    let mut sum = 0;
    for number in core::hint::black_box(NUMBERS) {
        for x in [number, -number] {
            match i {
                0 => casts!(x as f32, sum, u8 i8),
                1 => casts!(x as f32, sum, u16 i16),
                2 => casts!(x as f32, sum, u32 i32),
                3 => casts!(x as f32, sum, u64 i64 u128 i128),
                4 => casts!(x, sum, u8 i8),
                5 => casts!(x, sum, u16 i16),
                6 => casts!(x, sum, u32 i32),
                _ => casts!(x, sum, u64 i64 u128 i128),
            }
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

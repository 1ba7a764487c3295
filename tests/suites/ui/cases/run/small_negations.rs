//! Halfwords and bytes of the least value, negated and made positive: ptxas took -(-32,768) for a positive number.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 32767 4294934529 32768 4294934528 1 4294934528 127 4294967169 128 4294967168 98304 7
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    // Not known to the compiler, so that nothing is computed at compile time.
    let x = core::hint::black_box(i) as i16;
    let word = if x < 50 { i16::MIN } else { x };
    let byte = if x < 50 { i8::MIN } else { x as i8 };
    match i {
        0 => word.saturating_abs() as u32,
        1 => (word.overflowing_abs().0 as u32) ^ u32::from(word.overflowing_abs().1),
        2 => u32::from(word.unsigned_abs()),
        3 => word.wrapping_neg() as u32,
        4 => u32::from(word.wrapping_neg() < x),
        5 => (0..3).fold(0_i16, |sum, _| sum.wrapping_sub(word)) as u32,
        6 => byte.saturating_abs() as u32,
        7 => (byte.overflowing_abs().0 as u32) ^ u32::from(byte.overflowing_abs().1),
        8 => u32::from(byte.unsigned_abs()),
        9 => byte.wrapping_neg() as u32,
        10 => (i32::from(word.wrapping_neg()) * i32::from(x - 13)) as u32,
        _ => u32::from(word.wrapping_abs().max(7) as u16),
    }
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

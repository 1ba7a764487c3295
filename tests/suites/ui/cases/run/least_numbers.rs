//! The absolute value of the least number is negative, and a loop whose count passes 2^31 ends: ptxas 13.0.88 believed
//! neither. Random programs found both on an H200.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 2147483649 1 4294967295 2147483648 3 1 3 1
#![no_std]
use core::hint::black_box;

use ptx::prelude::*;

/// Counts from `n` to `end`, through the greatest number of 31 bits.
#[inline(always)]
fn turns(mut n: u32, end: u32) -> u32 {
    let mut word = end;
    let mut turns = 0;
    loop {
        word = word.leading_zeros() ^ 31;
        turns += word & 1;
        n = n.wrapping_add(1);
        if n == end {
            return turns ^ word;
        }
    }
}

#[inline(always)]
fn value(i: u32) -> u32 {
    let (least, wide) = (black_box(i32::MIN), black_box(i64::MIN));
    match i {
        0 => least.wrapping_abs().wrapping_add(1) as u32,
        1 => u32::from(least.wrapping_abs() < 0),
        2 => (wide.wrapping_abs() >> 40 >> 23) as u32,
        3 => least.unsigned_abs(),
        4 => u32::from(wide.wrapping_abs() < 0) + 2 * u32::from(wide.checked_abs().is_none()),
        5 => u32::from(wide.wrapping_abs().saturating_add(black_box(-1)) == i64::MIN),
        6 => turns(black_box(0x7fff_fffd), black_box(0x8000_0001)),
        _ => u32::from(least.overflowing_abs().1),
    }
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32 % 8);
    }
}

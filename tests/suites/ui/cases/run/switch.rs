//! A dense match, one with ranges, and one on pairs.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 10017001 30004001 20099002 40003002 20058016 40021003 10001036 30064003 20000003 40000003
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn dense(i: u32) -> u32 {
    match i {
        0 => 17,
        1 => 4,
        2 => 99,
        3 => 3,
        4 => 58,
        5 => 21,
        6 => 1,
        7 => 64,
        _ => 0,
    }
}

fn value(i: u32) -> u32 {
    let ranges = match core::hint::black_box(i * i) {
        0..=3 => 1,
        4..16 => 2,
        x @ 16..=40 if x % 2 == 0 => x,
        _ => 3,
    };
    let pair = match (i % 2 == 0, i % 3) {
        (true, 0) => 100,
        (true, _) => 200,
        (false, 1) => 300,
        (false, _) => 400,
    };
    dense(core::hint::black_box(i)) * 1000 + ranges + pair * 100_000
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

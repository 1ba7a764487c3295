//! Tables computed at compile time, `#[ptx::constant]` statics and plain ones.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 3003 5010 7035 3110 5051 7130
#![no_std]
use ptx::prelude::*;

const SQUARES: [u32; 8] = {
    let mut table = [0; 8];
    let mut i = 0;
    while i < 8 {
        table[i] = (i * i) as u32 + 1;
        i += 1;
    }
    table
};

#[ptx::constant]
static WEIGHTS: [u32; 4] = [3, 5, 7, 11];

static NAMES: [&str; 3] = ["one", "three", "sixteen"];

fn value(i: u32) -> u32 {
    let i = core::hint::black_box(i as usize);
    SQUARES[i] * WEIGHTS[i % 4] + 1000 * NAMES[i % 3].len() as u32
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

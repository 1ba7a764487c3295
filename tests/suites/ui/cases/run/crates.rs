//! A function of another crate, generic and not, runs as one here.
//@ revisions: o0 o3
//@[o0] debug: full
//@ aux-build: numbers.rs
//@ run
//@ expect: 203000 703001 103003 803006 304010
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    numbers::triangle(i) + numbers::largest(&[i, 3, 2]) * 1000 + numbers::TABLE[i as usize] * 100_000
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

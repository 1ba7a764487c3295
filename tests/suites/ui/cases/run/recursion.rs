//! Functions that call themselves, and each other, on the stack.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 31 50 71 90 111 130
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

#[inline(never)]
fn is_even(n: u32) -> bool {
    n == 0 || is_odd(n - 1)
}

#[inline(never)]
fn is_odd(n: u32) -> bool {
    n != 0 && is_even(n - 1)
}

fn value(i: u32) -> u32 {
    ackermann(2, i) * 10 + is_even(i * 3) as u32
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

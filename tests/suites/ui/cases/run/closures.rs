//! Closures that capture by reference, by value and mutably, called through generics and pointers.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 2061 2092 2123 2153 2185 2223
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(f(x))
}

#[inline(never)]
fn through_pointer(f: &dyn Fn(u32) -> u32, x: u32) -> u32 {
    f(x) + 1
}

fn value(i: u32) -> u32 {
    let base = i + 10;
    let mut calls = 0;
    let mut count = |x: u32| {
        calls += 1;
        x * base
    };
    let direct = count(i) + count(2);
    let moved = [i, 3, 5];
    let by_value = move |x: u32| x + moved[x as usize % 3];
    let function: fn(u32) -> u32 = u32::count_ones;
    direct + 1000 * calls + twice(|x| x * 3 + base, i) + through_pointer(&by_value, i) + function(i)
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

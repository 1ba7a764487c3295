//! Large values are copied whole: through functions, out of arrays and into them.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 41 2000825 21615 2002385 43189 2003945
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
struct Large {
    words: [u32; 40],
    tail: [u8; 7],
}

#[inline(never)]
fn make(i: u32) -> Large {
    Large { words: core::array::from_fn(|at| at as u32 * i + 1), tail: [i as u8; 7] }
}

#[inline(never)]
fn changed(mut large: Large, at: usize) -> Large {
    large.words[at] = 5;
    large.tail[6] = 200;
    large
}

fn value(i: u32) -> u32 {
    let first = make(i);
    let second = changed(first, 7);
    let both = [first, second];
    let chosen = both[core::hint::black_box(i as usize % 2)];
    chosen.words.iter().sum::<u32>() + 10_000 * u32::from(chosen.tail[6]) + first.words[7]
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

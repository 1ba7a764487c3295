//! Chains of iterators over slices and ranges give what they give on the CPU.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 1202 958 893 1192 825 760
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    let data: [u32; 16] = core::array::from_fn(|at| (at as u32 * 7 + i * 3) % 23);
    let even: u32 = data.iter().filter(|x| **x % 2 == 0).sum();
    let windows = data.windows(3).filter(|w| w[0] < w[1] && w[1] < w[2]).count() as u32;
    let zipped: u32 = data.iter().zip(data.iter().rev()).map(|(a, b)| a * b).fold(0, |sum, x| sum ^ x);
    let chunks: u32 = data.chunks(5).map(|chunk| chunk.iter().copied().max().unwrap_or(0)).sum();
    let at = data.iter().position(|x| *x == 11).unwrap_or(50) as u32;
    let steps: u32 = (3..40).step_by(4).skip(i as usize).take_while(|x| *x < 30).sum();
    even + 100 * windows + zipped + chunks + 7 * at + steps
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

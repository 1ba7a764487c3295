//! Sorting and searching of the core library.
//@ revisions: o0 o3
//@[o0] debug: full
//@ run
//@ expect: 3498111 879111 1477111 2074111 2672111 3270111
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    let mut data: [u32; 24] = core::array::from_fn(|at| (at as u32 + 1).wrapping_mul(2_654_435_761 + i * 2) >> 20);
    data.sort_unstable();
    let ordered = data.is_sorted() as u32;
    let place = data.binary_search(&2000).unwrap_or_else(|at| at) as u32;
    data.sort_unstable_by_key(|x| core::cmp::Reverse(x % 100));
    ordered + 10 * place + data[i as usize] * 1000
}

#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

//! Parameters of more bytes than a kernel can take.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(table: [u8; 40_000], mut out: DisjointSlice<u8>) { //~ ERROR: bytes
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = table[i.get() % 40_000];
    }
}

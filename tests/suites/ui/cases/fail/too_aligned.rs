//! A parameter with an alignment that PTX cannot give it.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C, align(256))] //~ ERROR: at most 128
pub struct Page {
    pub bytes: [u8; 256],
}

#[kernel]
pub fn run(page: Page, mut out: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = page.bytes[i.get() % 256];
    }
}

//! An alignment of 256.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C, align(256))] //~ ERROR: at most 128
pub struct Page {
    pub bytes: [u8; 256],
}

#[device(export)]
pub fn first(page: Page) -> u8 {
    page.bytes[0]
}

//! Cache operators and copies in the background are for what one instruction moves.
//@ error-in-other-file: a value has 1, 2, 4, 8 or 16 bytes here
//@ error-in-other-file: a value has 1, 2, 4, 8 or 16 bytes here
//@ error-in-other-file: a value has 4, 8 or 16 bytes here
#![no_std]
use ptx::memory;
use ptx::prelude::*;

#[kernel]
pub unsafe fn run(to: *mut [u32; 3], from: *const [u32; 3]) {
    unsafe {
        memory::store_cg(to, memory::load_cg(from));
    }
}

#[kernel]
pub unsafe fn copy(to: *mut u16, from: *const u16) {
    unsafe { memory::copy_async(to, from) }
}

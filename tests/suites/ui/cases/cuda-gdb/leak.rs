//! compute-sanitizer tells of an allocation on the device's heap that nobody frees: its address and size, no line.
//@ launch: leak<<<1, 1>>>(u32 7, slice u32 1)
//@ compute-sanitizer: --tool memcheck --leak-check full
//@ compute-sanitizer-check: ========= Leaked 4 bytes at 0x[...] on the device heap
#![no_std]
extern crate alloc;

use alloc::boxed::Box;
use ptx::prelude::*;

#[kernel]
pub fn leak(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let leaked = Box::leak(Box::new(n)); // #allocation
    if let Some(out) = out.get_mut(i) {
        *out = *leaked;
    }
}

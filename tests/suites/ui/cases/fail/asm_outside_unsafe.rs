//! `ptx::asm!` is unsafe.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn safe() {
    ptx::asm!("membar.gl;"); //~ ERROR: is unsafe
}

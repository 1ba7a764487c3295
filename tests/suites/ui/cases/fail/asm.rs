//! What `ptx::asm!` refuses by itself: operands that are none, types without registers, options that contradict each other.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub unsafe fn wrong(x: u32, out: *mut u32) {
    let mut y: u32 = 0;
    unsafe {
        ptx::asm!(); //~ ERROR: there is no text
        ptx::asm!(in(u32) x, "mov"); //~ ERROR: the text comes first
        ptx::asm!("mov.u32 {}, {1};", out(u32) y); //~ ERROR: there is no operand 1
        ptx::asm!("mov.u32 {y}, 1;", out(u32) y); //~ ERROR: there is no operand `y`
        ptx::asm!("mov.u32 {}, 1;", out(u32) y, in(u32) x); //~ ERROR: does not name this operand
        ptx::asm!("{.reg .b32 a;}"); //~ ERROR: braces hold an operand
        ptx::asm!("mov.u32 {:x}, 1;", out(u32) y); //~ ERROR: no modifiers
        ptx::asm!("mov.u32 {}, 1;", lateout(u32) y); //~ ERROR: an operand is
        ptx::asm!("mov.u32 {}, 1;", out(bool) y); //~ ERROR: an operand's type is
        ptx::asm!("mov.u32 {}, 1;", out(u32) y, options(pure)); //~ ERROR: `pure` goes with
        ptx::asm!("mov.u32 a, {};", in(u32) x, options(pure, nomem)); //~ ERROR: has a result
        ptx::asm!("mov.u32 {}, 1;", out(u32) y, options(raw)); //~ ERROR: the options are
        *out = y;
    }
}

#[kernel]
pub unsafe fn typed(x: u32, out: *mut u32) {
    let y: u64;
    unsafe {
        ptx::asm!("mov.u32 {}, {};", out(u32) y, in(u32) x); //~ ERROR: mismatched types
        *out = y as u32;
    }
}

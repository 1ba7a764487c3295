//! Inline PTX that ptxas does not know: the message names the line of the `asm!`, without debug information in the output.
//@link-arg: --ptxas=auto
//@needs-ptxas
//@normalize-stderr-test: "PTX line \d+" -> "PTX line NN"
//@normalize-stderr-test: "%r\d+" -> "%rN"
#![no_std]
#![feature(asm_experimental_arch)]
use core::arch::asm;

use ptx::prelude::*;

#[inline]
fn twice(x: u32) -> u32 {
    let y: u32;
    // SAFETY: it would double a register.
    unsafe {
        asm!( //~ ERROR: 'twice'
            "// the comment goes with it",
            "twice.u32 {}, {};",
            out(reg32) y,
            in(reg32) x,
        );
    }
    y
}

#[kernel]
pub fn wrong_operands(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: it would add.
        unsafe { asm!("add.u32 {0}, {0};", inout(reg32) *out) }; //~ ERROR: 'add'
    }
}

#[kernel]
pub fn unknown(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = twice(*out);
    }
}

//! What ptxas says of `ptx::asm!` is said at its line, without debug information in the output.
//@link-arg: --ptxas=auto
//@needs-ptxas
//@normalize-stderr-test: "PTX line \d+" -> "PTX line NN"
//@normalize-stderr-test: "%r\d+" -> "%rN"
#![no_std]
use ptx::prelude::*;

#[inline]
fn twice(x: u32) -> u32 {
    let y: u32;
    // SAFETY: it would double a register.
    unsafe {
        ptx::asm!( //~ ERROR: 'twice'
            "// the comment goes with it",
            "twice.u32 {}, {};",
            out(u32) y,
            in(u32) x,
        );
    }
    y
}

#[kernel]
pub fn wrong_operands(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: it would add.
        unsafe { ptx::asm!("add.u32 {0}, {0};", inout(u32) *out) }; //~ ERROR: 'add'
    }
}

#[kernel]
pub fn wrong_class(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: it would add.
        unsafe { ptx::asm!("add.f32 {0}, {0}, {1};", inout(u32) *out, in(u64) 1) }; //~ ERROR: 'add'
    }
}

#[kernel]
pub fn unknown(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = twice(*out);
    }
}

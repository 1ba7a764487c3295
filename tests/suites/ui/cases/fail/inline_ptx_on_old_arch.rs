//! Inline PTX with an instruction that is younger than the GPU, or than the PTX ISA version.
//@revisions: old_arch old_isa
//@link-arg: --ptxas=auto
//@needs-ptxas
//@[old_arch] arch: sm_75
//@[old_isa] arch: sm_90
//@[old_isa] link-arg: --ptx-version=7.8
//@normalize-stderr-test: "PTX line \d+" -> "PTX line NN"
//@normalize-stderr-test: "%r\d+" -> "%rN"
#![no_std]
#![feature(asm_experimental_arch)]
use core::arch::asm;

use ptx::prelude::*;

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let sum: u32;
        // SAFETY: every lane of the warp is here, or none.
        #[cfg(old_arch)]
        unsafe {
            asm!("redux.sync.add.u32 {}, {}, -1;", out(reg32) sum, in(reg32) *out); //~[old_arch] ERROR: sm_80
        }
        // SAFETY: an election among the threads of a warp.
        #[cfg(old_isa)]
        unsafe {
            asm!("{{.reg .pred p; elect.sync {}|p, -1;}}", out(reg32) sum); //~[old_isa] ERROR: 8.0
        }
        *out = sum;
    }
}

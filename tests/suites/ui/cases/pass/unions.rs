//! A union is a byte array as large and as aligned as its largest member needs.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub union Number {
    pub float: f64,
    pub bytes: [u8; 12],
}

// CHECK-LABEL: .visible .entry bits(
// CHECK: .param .align 8 .b8 bits_param_0[16],
#[kernel]
pub fn bits(number: Number, mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: every bit pattern is an f64.
        *out = unsafe { number.float }.to_bits();
    }
}

//! The white paper's figure 1, and a product that rounds: fused or not as the modes say.
//@ revisions: fused separate
//@[separate] float: fmad=false
//@ run
//@[separate] expect: 0x0 0x28800000 0x3f800003 0x3ffffffc
//@[fused] expect: 0x28800000 0x28800000 0x3f800003 0x3ffffffd
#![no_std]
use ptx::prelude::*;

fn value(i: u32) -> u32 {
    let (a, b) = (f32::from_bits(0x3f80_0001), f32::from_bits(0x3f80_0002));
    let (a, b) = (core::hint::black_box(a), core::hint::black_box(b));
    match i {
        0 => (a * a - b).to_bits(),
        1 => a.mul_add(a, -b).to_bits(),
        2 => (a * b).to_bits(),
        _ => (a / b * 3.0 - 1.0).to_bits(),
    }
}

// FUSED-COUNT-2: fma.rn.f32
// SEPARATE: mul.rn.f32
// SEPARATE-COUNT-1: fma.rn.f32
// SEPARATE-NOT: fma.rn.f32
#[kernel]
pub fn case(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = value(i.get() as u32);
    }
}

//! The primitive type `f16`: remainders and conversions of 128 bits are those of `f32`. LLVM stopped at the latter.
#![no_std]
#![feature(f16)]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry half_primitive(
// CHECK: fma.rn.f16
// CHECK: fmodf
// CHECK-NOT: div.rn.f32
// CHECK: cvt.rn.f16.f32
// CHECK: __fixsfti
// CHECK: __floatuntisf
// CHECK: cvt.rn.f16.f32
// CHECK: ret;
#[kernel]
pub unsafe fn half_primitive(a: u16, b: u16, c: u128, out: *mut u16, wide: *mut i128) {
    let (a, b) = (f16::from_bits(a), f16::from_bits(b));
    unsafe {
        out.write_volatile((a * b + a).to_bits());
        out.write_volatile((a % b).to_bits());
        wide.write_volatile(a as i128);
        out.write_volatile((c as f16).to_bits());
    }
}

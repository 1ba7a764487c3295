//! Counting, finding, reversing and rotating bits are an instruction or two.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry bits(
// CHECK: popc.b32
// CHECK: clz.b32
// CHECK: popc.b32
// CHECK: brev.b32
// CHECK: prmt.b32 {{.*}}, 0x123U;
// CHECK: shf.l.wrap.b32 {{.*}}, 7;
// CHECK: shf.r.wrap.b32
// CHECK: popc.b64
// CHECK: clz.b64
// CHECK: ret;
#[kernel]
pub unsafe fn bits(x: u32, y: u64, out: *mut u32) {
    unsafe {
        out.write_volatile(x.count_ones());
        out.write_volatile(x.leading_zeros());
        out.write_volatile(x.trailing_zeros());
        out.write_volatile(x.reverse_bits());
        out.write_volatile(x.swap_bytes());
        out.write_volatile(x.rotate_left(7));
        out.write_volatile(x.rotate_right(y as u32));
        out.write_volatile(y.count_ones());
        out.write_volatile(y.leading_zeros());
    }
}

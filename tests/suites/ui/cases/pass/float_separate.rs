//! What may be fused is fused, though what must not be is computed of the same operands in the same kernel.
#![no_std]
use ptx::prelude::*;

fn difference(a: f32, b: f32) -> f32 {
    a * a + b
}

#[ptx::float(fmad = false)]
fn rounded_twice(a: f32, b: f32) -> f32 {
    difference(a, b)
}

// CHECK-LABEL: .visible .entry both(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn both(out: *mut f32, a: f32, b: f32) {
    unsafe {
        out.write_volatile(rounded_twice(a, b));
        out.write_volatile(difference(a, b));
    }
}

// Nothing but the modes' operations is kept apart: what nobody needs goes, and what is computed twice is computed once.
// CHECK-LABEL: .visible .entry once(
// CHECK: sub.rn.f32
// CHECK-NOT: sub.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn once(out: *mut f32, a: f32, b: f32) {
    #[ptx::float(fmad = false)]
    fn twice(a: f32, b: f32) -> [f32; 2] {
        let _unused = a * b;
        [a - b, a - b]
    }
    let [x, y] = twice(a, b);
    unsafe {
        out.write_volatile(x);
        out.write_volatile(y);
    }
}

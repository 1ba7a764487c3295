//! Functions of another crate: generic ones are compiled here, others are calls of what it has, `#[inline]` goes in.
//@ aux-build: vectors.rs
#![no_std]
use ptx::prelude::*;

// CHECK: .func (.param .b32 func_retval0) [[CALLED:.*7vectors6called]](
// CHECK-LABEL: .visible .entry uses(
// CHECK: call.uni (retval0), {{.*}}7vectors6called, (param0);
// CHECK: fma.rn.f32
// CHECK-NOT: call
// CHECK: mul.lo.s64
// CHECK: ret;
#[kernel]
pub unsafe fn uses(x: f32, n: u64, out: *mut f32) {
    unsafe {
        out.write_volatile(vectors::called(x));
        out.write_volatile(vectors::Vector([x, 2.0]).dot(&vectors::Vector([3.0, x])));
        out.cast::<u64>().write_volatile(vectors::cube(n));
    }
}

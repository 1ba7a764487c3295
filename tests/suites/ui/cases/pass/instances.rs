//! A generic function is compiled once for each type that it is used with, and not for others.
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn double<T: Copy + core::ops::Add<Output = T>>(x: T) -> T {
    x + x
}

// CHECK-COUNT-3: .func (.param {{.*}}6double
// CHECK-NOT: .func (.param {{.*}}6double
// CHECK-LABEL: .visible .entry instances(
// CHECK: call.uni (retval0), [[FIRST:.*6doublem.*]], (param0);
// CHECK: call.uni (retval0), {{.*}}6doublef{{.*}}, (param0);
// CHECK: call.uni (retval0), {{.*}}6doubley{{.*}}, (param0);
// CHECK: call.uni (retval0), [[FIRST]], (param0);
// CHECK-NOT: call.uni
// CHECK: ret;
#[kernel]
pub unsafe fn instances(x: u32, y: f32, z: u64, out: *mut u64) {
    unsafe {
        out.write_volatile(double(x).into());
        out.write_volatile(double(y).to_bits().into());
        out.write_volatile(double(z));
        out.write_volatile(double(x + 1).into());
    }
}

//! An exported function is visible in the PTX beside the kernels; a private one is not.
#![no_std]
use ptx::prelude::*;

// CHECK-NOT: helper
// CHECK: .visible .func {{.*}}twice(
#[unsafe(no_mangle)]
pub extern "C" fn twice(x: u32) -> u32 {
    helper(x)
}

fn helper(x: u32) -> u32 {
    x * 2
}

// CHECK-LABEL: .visible .entry double(
#[kernel]
pub fn double(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = twice(*out);
    }
}

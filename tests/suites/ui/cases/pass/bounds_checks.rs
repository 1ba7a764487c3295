//! An index out of bounds is one cold call away, and that call needs no text formatting of `core`.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry gather(
// CHECK: setp.
// CHECK: ld.global.nc.{{[bu]}}32
// CHECK-NOT: core{{.*}}panic
// CHECK: call.uni __ptx_rt_panic_bounds_check
#[kernel]
pub fn gather(indices: &[u32], values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[indices[i.get()] as usize];
    }
}

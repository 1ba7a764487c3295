//! An index out of bounds is one cold call away; the text formatting of `core` is not linked in.
#![no_std]
use ptx::prelude::*;

// CHECK-NOT: core{{.*}}fmt
// CHECK-LABEL: .visible .entry gather(
// CHECK: setp.
// CHECK: ld.global.nc.{{[bu]}}32
#[kernel]
pub fn gather(indices: &[u32], values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[indices[i.get()] as usize];
    }
}

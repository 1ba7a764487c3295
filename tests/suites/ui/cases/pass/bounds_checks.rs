//! An index out of bounds is one cold branch away, and nothing is called for it.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry gather(
// CHECK: setp.
// CHECK: ld.global.nc.{{[bu]}}32
// CHECK-NOT: call
// CHECK: ld.const.u64 {{.*}}, [__ptx_panic];
#[kernel]
pub fn gather(indices: &[u32], values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[indices[i.get()] as usize];
    }
}

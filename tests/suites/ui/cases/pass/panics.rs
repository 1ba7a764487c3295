//! A panic leaves its message and place for the host, and traps: nothing is called.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry fail(
// CHECK-NOT: call
// CHECK: ld.const.u64 {{.*}}, [__ptx_panic];
// CHECK: trap;
#[kernel]
pub fn fail(limit: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        if *out > limit {
            panic!("the limit was passed");
        }
        *out += 1;
    }
}

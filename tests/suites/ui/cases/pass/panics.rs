//! A panic ends in `__assertfail` with message, file and line.
#![no_std]
use ptx::prelude::*;

// CHECK: .extern .func __assertfail
// CHECK: call.uni __assertfail
// CHECK-LABEL: .visible .entry fail(
// CHECK: call.uni {{.*}}panic
// CHECK: exit;
#[kernel]
pub fn fail(limit: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        if *out > limit {
            panic!("the limit was passed");
        }
        *out += 1;
    }
}

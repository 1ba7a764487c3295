//! Values in the message of a panic go to the host, which formats them: nothing of `core::fmt` is called.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry report(
// CHECK-NOT: call
// CHECK: st.volatile.global.u64 [{{.*}}+40],
// CHECK-NOT: call
#[kernel]
pub fn report(mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        assert!(*out >= 0, "element {} is {:?}", i.get(), *out);
        *out += 1;
    }
}

//! `core::fmt` works in a panic's message.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry report(
#[kernel]
pub fn report(mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        assert!(*out >= 0, "element {} is {:?}", i.get(), *out);
        *out += 1;
    }
}

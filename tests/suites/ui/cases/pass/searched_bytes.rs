//! Eight bytes at any address are compared with others one by one: the first load is of one byte, the others are in a loop.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry is_there(
// CHECK: ld.global.nc.b8
// CHECK: bra
// CHECK: .pragma "nounroll";
// CHECK: ld.global.nc.b8
// CHECK-NOT: ld.global.nc.b8
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn is_there(text: &[u8], wanted: u64, mut there: DisjointSlice<bool>) {
    let i = thread::index_1d();
    if let (Some(there), Some(window)) = (there.get_mut(i), text.get(i.get()..).and_then(|text| text.first_chunk::<8>())) {
        *there = *window == wanted.to_le_bytes();
    }
}

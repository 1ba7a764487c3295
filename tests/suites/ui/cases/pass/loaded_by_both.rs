//! What both arms of a `match` load is loaded once, before it.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry most(
// CHECK: ld.global.nc.b32
// CHECK: bra
// CHECK: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn most(previous: &[u32; 1024], weight: u32, worth: u32, mut next: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let room = i.get() % previous.len();
    if let Some(next) = next.get_mut(i) {
        *next = match room.checked_sub(weight as usize) {
            Some(rest) => previous[rest].wrapping_add(worth).max(previous[room]),
            None => previous[room],
        };
    }
}

//! A binary search that is written by hand loads without a check.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry from_the_end(
// CHECK: shr.u64
// CHECK-NOT: bra
// CHECK: ld.global.nc.b32
// CHECK: setp.lt.u64
#[kernel]
pub fn from_the_end(sorted: &[u32], keys: &[u32], mut ranks: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let (Some(rank), Some(key)) = (ranks.get_mut(i), keys.get(i.get())) {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if sorted[middle] < *key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        *rank = low as u64;
    }
}

// The smaller one of two numbers is at most the length.
// CHECK-LABEL: .visible .entry within(
// CHECK: setp.lt.u32
// CHECK: shr.u64
// CHECK-NOT: bra
// CHECK: ld.global.nc.b32
// CHECK: setp.lt.u64
#[kernel]
pub fn within(sorted: &[u32], ends: &[u64], keys: &[u32], mut ranks: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let (Some(rank), Some(end), Some(key)) = (ranks.get_mut(i), ends.get(i.get()), keys.get(i.get())) {
        let (mut low, mut high) = (0, sorted.len().min(*end as usize));
        while low < high {
            let middle = low + (high - low) / 2;
            if sorted[middle] < *key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        *rank = low as u64;
    }
}

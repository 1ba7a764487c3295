//! `Box`, `Vec` and kin allocate from the device's heap, through the driver's `malloc` and `free`; a failed allocation tells
//! what to do.
#![no_std]
extern crate alloc;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use ptx::prelude::*;

// PTX Writer's Guide to Interoperability 12.8, chapter 3.
// CHECK: .extern .func  (.param .b64 func_retval0) malloc
// CHECK: .extern .func free
// CHECK-LABEL: .visible .entry sorted(
#[kernel]
pub fn sorted(x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut counts = BTreeMap::new();
        for &x in x {
            *counts.entry(x).or_insert(0) += 1;
        }
        let mut list: Vec<u32> = counts.into_keys().collect();
        list.reverse();
        *out = list.iter().fold(0, |sum, x| sum * 3 + x);
    }
}

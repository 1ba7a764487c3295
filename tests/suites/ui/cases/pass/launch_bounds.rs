//! Launch bounds become directives of the entry.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry bounded(
// CHECK: .maxntid 256
// CHECK: .minnctapersm 2
#[kernel(launch_bounds(256, 2))]
pub fn bounded(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

// CHECK-LABEL: .visible .entry few_registers(
// CHECK: .maxnreg 32
#[kernel(max_registers = 32)]
pub fn few_registers(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

//! Launch bounds become directives of the entry.
//@arch: sm_90
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

// CHECK-LABEL: .visible .entry in_clusters(
// CHECK: .explicitcluster
// CHECK-NEXT: .reqnctapercluster 2, 2, 1
#[kernel(cluster(2, 2))]
pub fn in_clusters(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

// CHECK-LABEL: .visible .entry small_clusters(
// CHECK: .maxclusterrank 4
#[kernel(launch_bounds(128, 1, 4), cooperative)]
pub fn small_clusters(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

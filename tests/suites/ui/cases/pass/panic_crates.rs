//! A panic belongs to the crate whose function makes its place, also where that function is inlined into another crate's.
//@aux-build: checked.rs
//@revisions: theirs ours
//@[theirs] link-arg: --panic=trap
//@[theirs] link-arg: --panic-for=checked=full
//@[ours] link-arg: --panic-for=panic_crates=trap
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .func {{.*}}checked5third
// CHECK: __ptx_panic

// CHECK-LABEL: .visible .entry inlined(
// CHECK: mov.b64 {{.*}}, __rust_ptx_place
#[kernel]
pub fn inlined(values: &[u32], mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = checked::fifth(values);
    }
}

// CHECK-LABEL: .visible .entry ours(
// CHECK: trap;
#[kernel]
pub fn ours(values: &[u32], at: usize, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = values[at];
    }
}

// CHECK-LABEL: .visible .entry theirs(
// CHECK: call.uni {{.*}}
#[kernel]
pub fn theirs(values: &[u32], mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = checked::third(values) + checked::fourth(values);
    }
}

//! Launch bounds are directives of the entry: threads of a block, and blocks of a multiprocessor.
//@ arch: sm_90
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry bounded(
// CHECK: .maxntid 128
// CHECK-NEXT: .minnctapersm 4
// CHECK-NEXT: {
#[kernel(launch_bounds(128, 4))]
pub unsafe fn bounded(out: *mut u32) {
    unsafe { *out = 1 }
}

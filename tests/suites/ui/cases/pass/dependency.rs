//! Kernels of a dependency are in the output, and its functions can be called.
//@aux-build: shapes.rs
#![no_std]
use ptx::prelude::*;

// CHECK: .visible .entry from_dependency(
// CHECK: .visible .entry from_here(
#[kernel]
pub fn from_here(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = shapes::corners(*out);
    }
}

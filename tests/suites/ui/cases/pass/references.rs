//! A shared reference is a pointer whose target is only read.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry scale(
// CHECK: .param .u64 {{.*}}scale_param_0,
// CHECK: ld.global.nc.{{[bf]}}32
#[kernel]
pub fn scale(factor: &f32, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y *= *factor;
    }
}

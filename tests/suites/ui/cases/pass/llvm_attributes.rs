//! What Rust knows about references reaches LLVM as attributes of the parameters.
//@emit: llvm-ir
#![no_std]
use ptx::prelude::*;

// CHECK: define {{.*}}ptx_kernel void @add(
// CHECK-SAME: ptr {{.*}}noalias{{.*}}readonly
// CHECK-SAME: i64
// CHECK-SAME: ptr {{.*}}noalias
#[kernel]
pub fn add(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += x[i.get()];
    }
}

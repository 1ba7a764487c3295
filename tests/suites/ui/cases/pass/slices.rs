//! A slice is a pointer and a length; what is only read comes through the read-only cache.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry saxpy(
// CHECK: .param .f32 saxpy_param_0,
// CHECK-NEXT: .param .u64 {{.*}}saxpy_param_1,
// CHECK-NEXT: .param .u64 saxpy_param_2,
// CHECK-NEXT: .param .u64 {{.*}}saxpy_param_3,
// CHECK-NEXT: .param .u64 saxpy_param_4
// CHECK: ld.global.nc.{{[bf]}}32
// CHECK: ld.global.{{[bf]}}32
// CHECK: fma.rn.f32
// CHECK: st.global.{{[bf]}}32
// CHECK-NOT: .local
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

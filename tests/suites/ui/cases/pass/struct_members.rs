//! Members of a struct by value are read where they lie in parameter space, without a copy in local memory.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Inner {
    pub x: f32,
    pub y: f64,
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Outer {
    pub flag: bool,
    pub inner: Inner,
    pub table: [u16; 3],
}

// CHECK-LABEL: .visible .entry nested(
// CHECK: .param .align 8 .b8 nested_param_0[32],
// CHECK-NOT: __local_depot
// CHECK: ld.param.b64 {{.*}}+16]
#[kernel]
pub fn nested(value: Outer, mut out: DisjointSlice<f64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if value.flag { value.inner.y } else { f64::from(value.table[2]) };
    }
}

//! Each instance of a generic kernel is an entry point of its own, whose name says which it is. They stand in order of
//! name.
//@arch: sm_90
#![no_std]
use ptx::prelude::*;
use ptx::{DeviceFn, PerThread, device_fn};

device_fn! {
    /// a x + b
    pub struct Affine { a: f32, b: f32 } = |x: f32| -> f32 { a * x + b }
}

device_fn! {
    struct Square {} = |x: f32| -> f32 { x * x }
}

// CHECK-LABEL: .visible .entry apply_Affine(
// CHECK: .param .align 4 .b8 {{.*}}[8]
// CHECK: fma.rn.f32
// CHECK-LABEL: .visible .entry apply_Square(
// CHECK: mul.f32
#[kernel(instantiate(Affine, Square))]
pub fn apply<F: DeviceFn<(f32,), Output = f32>>(f: F, mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = f.call((*x,));
    }
}

const WIDTH: usize = 2;

// CHECK-LABEL: .visible .entry rows_i64_WIDTH(
// CHECK: .maxntid 64
// CHECK-LABEL: .visible .entry rows_u16_4(
// CHECK: .maxntid 128
#[kernel(name = "rows", instantiate((u16, 4), (i64, WIDTH)), launch_bounds(32 * N as u32))]
pub fn sum_rows<T: AbiType + Copy + core::ops::AddAssign, const N: usize>(first: [T; N], mut out: PerThread<T, N>) {
    if let Some(out) = out.array() {
        out.iter_mut().zip(first).for_each(|(out, first)| *out += first);
    }
}

// CHECK-LABEL: .visible .entry scale_f32(
// CHECK: .param .f32
// CHECK: mul.f32
// CHECK-LABEL: .visible .entry scale_f64(
// CHECK: .param .f64
// CHECK: mul.f64
#[kernel(instantiate = (f32, f64))]
pub fn scale<T: AbiType + core::ops::MulAssign>(a: T, mut x: DisjointSlice<T>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x *= a;
    }
}

// CHECK-LABEL: .visible .entry tiles_f32_2(
// CHECK: .explicitcluster
// CHECK: .reqnctapercluster 2, 1, 1
// CHECK-LABEL: .visible .entry tiles_f32_4(
// CHECK: .reqnctapercluster 4, 1, 1
#[kernel(instantiate((f32, 2), (f32, 4)), cluster(BLOCKS))]
pub fn tiles<T: AbiType, const BLOCKS: u32>(value: T, mut out: DisjointSlice<T>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}

//! Exported functions: names, extension of small integers, byte arrays for aggregates and results.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
#[ptx(namespace = "math", name = "Sample")]
pub struct Point {
    pub id: i32,
    pub tag: [i8; 3],
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C, align(64))]
pub struct Wide {
    pub values: [f64; 5],
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Empty;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pair<T, const N: usize> {
    pub values: [T; N],
}

#[derive(Clone, Copy, PartialEq, ptx::AbiType)]
#[repr(i8)]
pub enum Kind {
    Low = -1,
    High,
}

// CHECK: .visible .entry _ZN4math3runEPii(
#[kernel(export = "C++", namespace = "math")]
pub fn run(mut out: *mut i32, n: i32) {
    // SAFETY: one thread, one element.
    unsafe { *out = foo(n, 2) };
    out = core::ptr::null_mut();
    _ = out;
}

// The guide's example (chapter 6).
// CHECK: .visible .func  (.param .b32 func_retval0) _Z3fooii(
// CHECK: .param .b32 _Z3fooii_param_0,
// CHECK: .param .b32 _Z3fooii_param_1
// CHECK: add.s32
// CHECK: st.param.b32 	[func_retval0]
#[device(export = "C++")]
pub fn foo(i: i32, j: i32) -> i32 {
    i + j
}

// CHECK: .visible .func _Z7storingP4PairIfLm3EERKS0_PKjm4Kind(
#[device(export = "C++")]
pub unsafe fn storing(to: *mut Pair<f32, 3>, from: &Pair<f32, 3>, counts: &[u32], kind: Kind) {
    let scale = if kind == Kind::High { counts.len() as f32 } else { 1.0 };
    // SAFETY: the caller says that it may be written.
    unsafe { *to = Pair { values: from.values.map(|value| value * scale) } };
}

// CHECK: .visible .func  (.param .align 64 .b8 func_retval0[64]) _ZN4math4deep5widenE4WideNS_6SampleE(
// CHECK: .param .align 64 .b8 _ZN4math4deep5widenE4WideNS_6SampleE_param_0[64],
// CHECK: .param .align 4 .b8 _ZN4math4deep5widenE4WideNS_6SampleE_param_1[8]
// CHECK: st.param.b64 	[func_retval0
#[device(export = "C++", namespace = "math::deep")]
pub fn widen(wide: Wide, point: Point) -> Wide {
    let mut values = wide.values;
    values[0] += f64::from(point.id);
    Wide { values }
}

// CHECK: .visible .func  (.param .b32 func_retval0) narrow(
// CHECK-NEXT: .param .b32 narrow_param_0,
// CHECK-NEXT: .param .b32 narrow_param_1,
// CHECK-NEXT: .param .b32 narrow_param_2
// CHECK: st.param.b32 	[func_retval0]
#[device(export)]
pub fn narrow(a: i8, b: u16, c: bool) -> i8 {
    a.wrapping_add(b as i8).wrapping_add(c as i8)
}

// CHECK: .visible .func  (.param .align 1 .b8 func_retval0[1]) nothing(
// CHECK: .param .align 1 .b8 nothing_param_0[1]
#[device(export)]
pub fn nothing(empty: Empty) -> Empty {
    empty
}

//! Every scalar type is a parameter of its size, signed or not.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry floats(
// CHECK: .param .f32 floats_param_0,
// CHECK-NEXT: .param .f64 floats_param_1,
// CHECK: fma.rn.f64
#[kernel]
pub fn floats(a: f32, b: f64, mut out: DisjointSlice<f64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = f64::from(a) * b + *out;
    }
}

// CHECK-LABEL: .visible .entry others(
// CHECK: .param .u8 others_param_0,
// CHECK-NEXT: .param .u32 others_param_1,
#[kernel]
pub fn others(a: bool, b: char, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = if a { b as u32 } else { 0 };
    }
}

// CHECK-LABEL: .visible .entry signed(
// CHECK: .param .{{[us]}}8 signed_param_0,
// CHECK-NEXT: .param .{{[us]}}16 signed_param_1,
// CHECK-NEXT: .param .{{[us]}}32 signed_param_2,
// CHECK-NEXT: .param .{{[us]}}64 signed_param_3,
// CHECK-NEXT: .param .{{[us]}}64 signed_param_4,
// CHECK: cvt.s64.s8
#[kernel]
pub fn signed(a: i8, b: i16, c: i32, d: i64, e: isize, mut out: DisjointSlice<i64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = i64::from(a) + i64::from(b) + i64::from(c) + d + e as i64;
    }
}

// CHECK-LABEL: .visible .entry unsigned(
// CHECK: .param .u8 unsigned_param_0,
// CHECK-NEXT: .param .u16 unsigned_param_1,
// CHECK-NEXT: .param .u32 unsigned_param_2,
// CHECK-NEXT: .param .u64 unsigned_param_3,
// CHECK-NEXT: .param .u64 unsigned_param_4,
#[kernel]
pub fn unsigned(a: u8, b: u16, c: u32, d: u64, e: usize, mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = u64::from(a) + u64::from(b) + u64::from(c) + d + e as u64;
    }
}

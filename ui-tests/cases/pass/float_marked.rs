//! Functions with modes of their own: they hold for all that these call, whatever is inlined, and for nothing else.
#![no_std]
use ptx::prelude::*;

unsafe extern "C" {
    safe fn __ptx_float_modes(modes: u32);
}

const NOT_FUSED: u32 = 0b01;
const FLUSHED: u32 = 0b1100;

/// Called under three sets of modes, and by itself.
#[inline(never)]
fn power(x: f32, n: u32) -> f32 {
    if n == 0 { x * x + 1.0 } else { power(x + x * x, n - 1) }
}

#[inline(never)]
fn strict(x: f32, n: u32) -> f32 {
    __ptx_float_modes(NOT_FUSED);
    power(x, n)
}

#[inline(never)]
fn flushed(x: f32, n: u32) -> f32 {
    __ptx_float_modes(FLUSHED);
    power(x, n) + x * x
}

/// A leaf, which LLVM inlines.
#[inline(never)]
fn leaf(x: f32, y: f32) -> f32 {
    __ptx_float_modes(NOT_FUSED);
    x * y + x
}

// The kernel and `power` as it calls it have the build's modes.
// CHECK-LABEL: .visible .entry plain(
// CHECK-NOT: ftz
// CHECK: fma.rn.f32
#[kernel]
pub fn plain(x: f32, n: u32, out: &mut f32) {
    *out = power(x, n) + x * x;
}

// Inlined, and as it was written; what stands around it is fused.
// CHECK-LABEL: .visible .entry around(
// CHECK-NOT: call
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel]
pub fn around(x: f32, y: f32, out: &mut f32) {
    *out = leaf(x, y) * y + x;
}

// A whole kernel: its shim takes over the modes.
// CHECK-LABEL: .visible .entry whole(
// CHECK-NOT: call
// CHECK: fma.rn.ftz.f32
// CHECK: ret;
#[kernel]
pub fn whole(x: f32, y: f32, out: &mut f32) {
    body(x, y, out)
}

#[inline(never)]
fn body(x: f32, y: f32, out: &mut f32) {
    __ptx_float_modes(FLUSHED);
    *out = x * y + x;
}

// CHECK-LABEL: .visible .entry all(
#[kernel]
pub fn all(x: f32, n: u32, out: &mut f32) {
    *out = strict(x, n) + flushed(x, n);
}

// CHECK-LABEL: power_$_float_ds(
// CHECK-NOT: fma
// CHECK-NOT: ftz
// CHECK: ret;
// CHECK-LABEL: power_$_float_mzds(
// CHECK: fma.rn.ftz.f32

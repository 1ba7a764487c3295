//! Functions with modes of their own: they hold for all that these call, whatever is inlined, and for nothing else.
#![no_std]
use ptx::prelude::*;

/// Called under three sets of modes, and by itself.
#[inline(never)]
fn power(x: f32, n: u32) -> f32 {
    if n == 0 { x * x + 1.0 } else { power(x + x * x, n - 1) }
}

#[ptx::float(fmad = false)]
fn strict(x: f32, n: u32) -> f32 {
    power(x, n)
}

#[ptx::float(ftz = true)]
fn flushed(x: f32, n: u32) -> f32 {
    power(x, n) + x * x
}

/// A leaf, which LLVM inlines.
#[ptx::float(fmad = false)]
fn leaf(x: f32, y: f32) -> f32 {
    x * y + x
}

// CHECK-LABEL: .visible .entry all(
// CHECK: power_$_float_ds,
// CHECK: flushed,
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn all(x: f32, n: u32, out: *mut f32) {
    unsafe { *out = strict(x, n) + flushed(x, n) }
}

// Inlined, and as it was written; what stands around it is fused.
// CHECK-LABEL: .visible .entry around(
// CHECK-NOT: call
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: ret;
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn around(x: f32, y: f32, out: *mut f32) {
    unsafe { *out = leaf(x, y) * y + x }
}

// The kernel, and `power` as it calls it, have the build's modes.
// CHECK-LABEL: .visible .entry plain(
// CHECK-NOT: ftz
// CHECK: fma.rn.f32
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
pub unsafe fn plain(x: f32, n: u32, out: *mut f32) {
    unsafe { *out = power(x, n) + x * x }
}

// A whole kernel: its entry takes over the modes.
// CHECK-LABEL: .visible .entry whole(
// CHECK-NOT: call
// CHECK: fma.rn.ftz.f32
// CHECK: ret;
/// # Safety
/// `out` must point to a value of the kernel's own.
#[kernel]
#[ptx::float(ftz = true)]
pub unsafe fn whole(x: f32, y: f32, out: *mut f32) {
    unsafe { *out = x * y + x }
}

// The copies of `power`.
// CHECK-LABEL: power_$_float_ds(
// CHECK-NOT: fma
// CHECK-NOT: ftz
// CHECK: add.rn.f32
// CHECK-LABEL: power_$_float_mzds(
// CHECK: fma.rn.ftz.f32

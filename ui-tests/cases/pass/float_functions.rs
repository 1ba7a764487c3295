//! Modes by attribute, on kernels, functions, methods and generics: for all that they call, inlined or not, and for no more.
#![no_std]
use ptx::prelude::*;

fn step(a: f32, b: f32) -> f32 {
    a * b + a
}

// A kernel; `step` is shared by kernels of three modes.
// CHECK-LABEL: .visible .entry plain(
// CHECK-NOT: .ftz
// CHECK: fma.rn.f32
// CHECK-NOT: .ftz
// CHECK: ret;
#[kernel]
pub unsafe fn plain(out: *mut f32, a: f32, b: f32) {
    unsafe { *out = step(a, b) }
}

// CHECK-LABEL: .visible .entry attribute_above(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK-NEXT: add.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
#[ptx::float(fmad = false)]
#[kernel]
pub unsafe fn attribute_above(out: *mut f32, a: f32, b: f32) {
    unsafe { *out = step(a, b) }
}

// CHECK-LABEL: .visible .entry attribute_below(
// CHECK: mul.rn.ftz.f32
// CHECK-NEXT: add.rn.ftz.f32
// CHECK: ret;
#[kernel]
#[ptx::float(fmad = false)]
#[ptx::float(ftz = true)]
pub unsafe fn attribute_below(out: *mut f32, a: f32, b: f32) {
    unsafe { *out = step(a, b) }
}

// A function; what the kernel does itself has the build's modes.
// CHECK-LABEL: .visible .entry calls_exact(
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn calls_exact(out: *mut f32, a: f32, b: f32) {
    unsafe {
        *out = exact(a, b);
        *out.add(1) = step(a, b);
    }
}

#[inline(always)]
#[ptx::float(fmad = false)]
fn exact(a: f32, b: f32) -> f32 {
    step(a, b)
}

struct Line(f32);

trait At {
    fn at(&self, x: f32) -> f32;

    #[ptx::float(ftz = true)]
    fn at_flushed(&self, x: f32) -> f32 {
        x + 2.0
    }
}

#[ptx::float(fmad = false)]
impl At for Line {
    fn at(&self, x: f32) -> f32 {
        self.0 * x + 1.0
    }
}

// CHECK-LABEL: .visible .entry methods(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: add.ftz.f32
// CHECK: ret;
#[kernel]
pub unsafe fn methods(out: *mut f32, a: f32, b: f32) {
    unsafe {
        *out = Line(a).at(b);
        *out.add(1) = Line(a).at_flushed(b);
    }
}

#[ptx::float(prec_div = false)]
fn ratio<T: core::ops::Div<Output = T>>(a: T, b: T) -> T {
    a / b
}

// `prec_div` is about single precision.
// CHECK-LABEL: .visible .entry generics(
// CHECK: div.full.f32
// CHECK: div.rn.f64
// CHECK: div.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn generics(out: *mut f32, wide: *mut f64, a: f32, b: f32) {
    unsafe {
        *out = ratio(a, b);
        *wide = ratio(f64::from(a), f64::from(b));
        *out.add(1) = a / b;
    }
}

// Closures and iterators are part of the function that has them.
// CHECK-LABEL: .visible .entry iterators(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
#[kernel]
#[ptx::float(fmad = false)]
pub unsafe fn iterators(out: *mut f32, x: &[f32], y: &[f32]) {
    let product = |(x, y): (&f32, &f32)| x * y;
    unsafe { *out = x.iter().zip(y).map(product).sum() }
}

#[ptx::float(use_fast_math)]
mod fast {
    use ptx::prelude::*;

    // CHECK-LABEL: .visible .entry in_a_module(
    // CHECK: div.approx.ftz.f32
    // CHECK: ret;
    #[kernel]
    pub unsafe fn in_a_module(out: *mut f32, a: f32, b: f32) {
        unsafe { *out = a / b }
    }

    // CHECK-LABEL: .visible .entry exact_in_a_module(
    // CHECK: div.rn.f32
    // CHECK: ret;
    #[ptx::float(use_fast_math = false)]
    #[kernel]
    pub unsafe fn exact_in_a_module(out: *mut f32, a: f32, b: f32) {
        unsafe { *out = a / b }
    }
}

pub use fast::{exact_in_a_module, in_a_module};

// CHECK-LABEL: exported(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ret;
#[device(export)]
#[ptx::float(fmad = false)]
pub fn exported(a: f32, b: f32) -> f32 {
    step(a, b)
}

// CHECK-LABEL: exported_too(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ret;
#[ptx::float(fmad = false)]
#[device(export)]
pub fn exported_too(a: f32, b: f32) -> f32 {
    step(a, b)
}

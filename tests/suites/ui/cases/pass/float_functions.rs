//! Modes by attribute, on kernels, functions, methods and generics: for all that they call, inlined or not, and for no more.
#![no_std]
use ptx::prelude::*;

// Shared by kernels of four modes.
fn step(a: f32, b: f32) -> f32 {
    a * b + a
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

// CHECK-LABEL: .visible .entry attributes_below(
// CHECK: mul.rn.ftz.f32
// CHECK-NEXT: add.rn.ftz.f32
// CHECK: ret;
#[kernel]
#[ptx::float(fmad = false)]
#[ptx::float(ftz = true)]
pub unsafe fn attributes_below(out: *mut f32, a: f32, b: f32) {
    unsafe { *out = step(a, b) }
}

// A function with modes; what the kernel does itself has the build's.
// CHECK-LABEL: .visible .entry calls(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn calls(out: *mut f32, a: f32, b: f32) {
    unsafe {
        out.write_volatile(exact(a, b));
        out.write_volatile(step(b, 3.0));
    }
}

#[inline(always)]
#[ptx::float(fmad = false)]
fn exact(a: f32, b: f32) -> f32 {
    step(a, b)
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
        out.write_volatile(ratio(a, b));
        wide.write_volatile(ratio(f64::from(a), f64::from(b)));
        out.write_volatile(b / a);
    }
}

#[ptx::float(prec_div = false)]
fn ratio<T: core::ops::Div<Output = T>>(a: T, b: T) -> T {
    a / b
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

    // CHECK-LABEL: .visible .entry in_a_module_with_its_own(
    // CHECK: div.rn.f32
    // CHECK: ret;
    #[ptx::float(use_fast_math = false)]
    #[kernel]
    pub unsafe fn in_a_module_with_its_own(out: *mut f32, a: f32, b: f32) {
        unsafe { *out = a / b }
    }
}

pub use fast::{in_a_module, in_a_module_with_its_own};

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

// CHECK-LABEL: .visible .entry methods(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn methods(out: *mut f32, a: f32, b: f32) {
    let line = Line(a);
    unsafe {
        out.write_volatile(line.at(b));
        out.write_volatile(line.at_twice(b));
        out.write_volatile(line.before(b));
    }
}

struct Line(f32);

trait At {
    fn at(&self, x: f32) -> f32;

    fn at_twice(&self, x: f32) -> f32 {
        2.0 * x + x
    }

    #[ptx::float(fmad = false)]
    fn before(&self, x: f32) -> f32 {
        3.0 * x + 1.0
    }
}

#[ptx::float(fmad = false)]
impl At for Line {
    fn at(&self, x: f32) -> f32 {
        self.0 * x + 1.0
    }
}

// CHECK-LABEL: .visible .entry plain(
// CHECK-NOT: .ftz
// CHECK: fma.rn.f32
// CHECK-NOT: .ftz
// CHECK: ret;
#[kernel]
pub unsafe fn plain(out: *mut f32, a: f32, b: f32) {
    unsafe { *out = step(a, b) }
}

// CHECK-LABEL: .visible .func  (.param .b32 func_retval0) exported(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ret;
#[device(export)]
#[ptx::float(fmad = false)]
pub fn exported(a: f32, b: f32) -> f32 {
    step(a, b)
}

// CHECK-LABEL: .visible .func  (.param .b32 func_retval0) exported_too(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ret;
#[ptx::float(fmad = false)]
#[device(export)]
pub fn exported_too(a: f32, b: f32) -> f32 {
    step(a, b)
}

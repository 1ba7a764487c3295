//! Modes of blocks: the inner ones win, and what stands around keeps its own. What is to be flushed stays a function.
#![no_std]
use ptx::prelude::*;

fn step(a: f32, b: f32) -> f32 {
    a * b + a
}

// CHECK: .func {{.*}}nested
// CHECK: sub.f32
// CHECK: .func {{.*}}nested
// CHECK: mul.ftz.f32
// CHECK: .func {{.*}}kinds
// CHECK: rcp.approx.ftz.f32
// CHECK: div.approx.ftz.f32
// CHECK-LABEL: .visible .entry block(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn block(out: *mut f32, a: f32, b: f32) {
    let exact = #[ptx::float(fmad = false)]
    {
        step(a, b)
    };
    unsafe {
        out.write_volatile(exact);
        out.write_volatile(step(b, 3.0));
    }
}

// The attribute alone lets blocks have modes, where no other attribute does.
// CHECK-LABEL: .visible .entry calls(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn calls(out: *mut f32, a: f32, b: f32) {
    unsafe { *out = has_a_block(a, b) }
}

#[ptx::float()]
fn has_a_block(a: f32, b: f32) -> f32 {
    #[ptx::float(fmad = false)]
    {
        step(a, b)
    }
}

// Within a closure, with a label, unsafe, and changing what stands outside.
// CHECK-LABEL: .visible .entry kinds(
// CHECK: mul.rn.f32
// CHECK-NEXT: add.rn.f32
// CHECK: ret;
#[kernel]
pub unsafe fn kinds(out: *mut f32, x: &[f32]) {
    let mut sum = 0.0;
    let scaled = |x: f32| {
        #[ptx::float(use_fast_math)]
        {
            1.0 / x
        }
    };
    for x in x {
        let quotient = #[ptx::float(use_fast_math)]
        'value: {
            if *x > 1.0 {
                break 'value 2.0;
            }
            scaled(*x) / 3.0
        };
        #[ptx::float(fmad = false)]
        unsafe {
            sum += quotient * *out;
        }
    }
    unsafe { *out = sum }
}

// CHECK-LABEL: .visible .entry nested(
// CHECK: add.ftz.f32
// CHECK: ret;
#[kernel]
#[ptx::float(ftz = true)]
pub unsafe fn nested(out: *mut f32, a: f32, b: f32) {
    let mut values = [a + b, 0.0, 0.0];
    #[ptx::float(ftz = false)]
    {
        values[1] = a - b;
        #[ptx::float(ftz = true)]
        {
            values[2] = a * b;
        }
    }
    for value in values {
        unsafe { out.write_volatile(value) };
    }
}

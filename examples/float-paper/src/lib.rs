//! The kernels of the examples in NVIDIA's white paper (Floating Point and IEEE 754 12.8), and what they share with the
//! CPU. Each kernel is one line of the paper; the attribute says under which rules it is computed.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::float::Rounding;
use ptx::prelude::*;

/// The paper's four-element vectors.
pub type Vector = [f32; 4];

/// This thread's element of the output.
#[inline(always)]
fn put<T>(out: &mut DisjointSlice<'_, T>, value: T) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}

/// Figure 1: `r = a * a + b`, as the build has it. Without options that is one fused multiply-add, as with nvcc.
#[kernel]
pub fn figure_1(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a * a + b);
}

/// Figure 1 with two roundings, as on a CPU.
#[kernel]
#[ptx::float(fmad = false)]
pub fn figure_1_apart(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a * a + b);
}

/// Figure 1 by name: no mode changes what this computes.
#[kernel]
#[ptx::float(fmad = false)]
pub fn figure_1_named(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a.fma_rn(a, b));
}

/// §3.3: operations by name stay apart, whatever the modes are.
#[kernel]
#[ptx::float(fmad = true)]
pub fn figure_1_never(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a.mul_rn(a).add_rn(b));
}

/// §2.1, the short loop.
#[inline]
pub fn serial(a: &Vector, b: &Vector) -> f32 {
    let mut sum = 0.0;
    for i in 0..4 {
        sum += a[i] * b[i];
    }
    sum
}

/// §2.1, the loop with fused multiply-adds.
#[inline]
pub fn fused(a: &Vector, b: &Vector) -> f32 {
    let mut sum = 0.0;
    for i in 0..4 {
        sum = a[i].fma_rn(b[i], sum);
    }
    sum
}

/// §2.1, divide and conquer.
#[inline]
pub fn parallel(a: &Vector, b: &Vector) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

/// The serial method.
#[kernel]
#[ptx::float(fmad = false)]
pub fn dot_serial(a: Vector, b: Vector, mut r: DisjointSlice<f32>) {
    put(&mut r, serial(&a, &b));
}

/// The FMA method: the serial loop, contracted by the compiler.
#[kernel]
#[ptx::float(fmad = true)]
pub fn dot_fma(a: Vector, b: Vector, mut r: DisjointSlice<f32>) {
    put(&mut r, serial(&a, &b));
}

/// The FMA method, by name.
#[kernel]
pub fn dot_fma_named(a: Vector, b: Vector, mut r: DisjointSlice<f32>) {
    put(&mut r, fused(&a, &b));
}

/// The parallel method.
#[kernel]
#[ptx::float(fmad = false)]
pub fn dot_parallel(a: Vector, b: Vector, mut r: DisjointSlice<f32>) {
    put(&mut r, parallel(&a, &b));
}

/// §4.4: the serial method in double precision, its result rounded to single.
#[inline]
pub fn in_double(a: &Vector, b: &Vector) -> f32 {
    let mut sum = 0.0;
    for i in 0..4 {
        sum += f64::from(a[i]) * f64::from(b[i]);
    }
    sum as f32
}

/// The same on the GPU.
#[kernel]
pub fn dot_in_double(a: Vector, b: Vector, mut r: DisjointSlice<f32>) {
    put(&mut r, in_double(&a, &b));
}

/// §4.3: the part of a sum that one of `threads` threads adds up.
#[inline]
pub fn part(x: &[f32], thread: usize, threads: usize) -> f32 {
    x.iter().skip(thread).step_by(threads).sum()
}

/// The parts of all threads.
#[kernel]
pub fn parts(x: &[f32], threads: usize, mut r: DisjointSlice<f32>) {
    put(&mut r, part(x, thread::index_1d().get(), threads));
}

/// §1.2: `(a + b) + c`
#[kernel]
pub fn sum_from_left(a: f32, b: f32, c: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, (a + b) + c);
}

/// §1.2: `a + (b + c)`
#[kernel]
pub fn sum_from_right(a: f32, b: f32, c: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a + (b + c));
}

/// §1.1: -192 in single precision is `product(-128, 1.5)`. With `ftz = false`, §3.4's first row.
#[kernel]
#[ptx::float(ftz = false)]
pub fn product(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a * b);
}

/// The product where subnormal numbers are zero, §3.4's second row.
#[kernel]
#[ptx::float(ftz = true)]
pub fn product_ftz(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a * b);
}

/// The product in double precision, on which no flag of §3.4 has an effect.
#[kernel]
#[ptx::float(ftz = true)]
pub fn product_double(a: f64, b: f64, mut r: DisjointSlice<f64>) {
    put(&mut r, a * b);
}

/// §1.1: 2/3 in single precision is `quotient(2, 3)`. With `prec_div = true`, §3.4's first row.
#[kernel]
#[ptx::float(prec_div = true)]
pub fn quotient(a: f32, b: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, a / b);
}

/// The quotient in double precision.
#[kernel]
#[ptx::float(prec_div = false)]
pub fn quotient_double(a: f64, b: f64, mut r: DisjointSlice<f64>) {
    put(&mut r, a / b);
}

/// Correctly rounded quotients.
#[kernel]
#[ptx::float(prec_div = true)]
pub fn quotients(a: &[f32], b: &[f32], mut r: DisjointSlice<f32>) {
    let i = thread::index_1d().get();
    if i < a.len().min(b.len()) {
        put(&mut r, a[i] / b[i]);
    }
}

/// Quotients of §3.4's fast mode.
#[kernel]
#[ptx::float(prec_div = false)]
pub fn quotients_fast(a: &[f32], b: &[f32], mut r: DisjointSlice<f32>) {
    let i = thread::index_1d().get();
    if i < a.len().min(b.len()) {
        put(&mut r, a[i] / b[i]);
    }
}

/// Correctly rounded square roots.
#[kernel]
#[ptx::float(prec_sqrt = true)]
pub fn square_roots(x: &[f32], mut r: DisjointSlice<f32>) {
    if let Some(x) = x.get(thread::index_1d().get()) {
        put(&mut r, x.sqrt());
    }
}

/// Square roots of §3.4's fast mode.
#[kernel]
#[ptx::float(prec_sqrt = false)]
pub fn square_roots_fast(x: &[f32], mut r: DisjointSlice<f32>) {
    if let Some(x) = x.get(thread::index_1d().get()) {
        put(&mut r, x.sqrt());
    }
}

/// Figure 6 in double precision.
#[kernel]
pub fn cosine(x: f64, mut r: DisjointSlice<f64>) {
    put(&mut r, x.cos());
}

/// Figure 6 in single precision.
#[kernel]
pub fn cosine_single(x: f32, mut r: DisjointSlice<f32>) {
    put(&mut r, x.cos());
}

/// How many operations §3.2's tables have.
pub const OPERATIONS: usize = 6;

/// One operation of §3.2's tables, in rn, rz, ru and rd.
#[inline]
pub fn four_roundings<T: Rounding>(operation: usize, x: T, y: T, z: T) -> [T; 4] {
    match operation {
        0 => [x.add_rn(y), x.add_rz(y), x.add_ru(y), x.add_rd(y)],
        1 => [x.mul_rn(y), x.mul_rz(y), x.mul_ru(y), x.mul_rd(y)],
        2 => [x.fma_rn(y, z), x.fma_rz(y, z), x.fma_ru(y, z), x.fma_rd(y, z)],
        3 => [y.rcp_rn(), y.rcp_rz(), y.rcp_ru(), y.rcp_rd()],
        4 => [x.div_rn(y), x.div_rz(y), x.div_ru(y), x.div_rd(y)],
        _ => [y.sqrt_rn(), y.sqrt_rz(), y.sqrt_ru(), y.sqrt_rd()],
    }
}

/// §3.2, single precision; a thread for each operation.
#[kernel]
pub fn roundings(x: f32, y: f32, z: f32, mut r: DisjointSlice<[f32; 4]>) {
    put(&mut r, four_roundings(thread::index_1d().get(), x, y, z));
}

/// §3.2, double precision.
#[kernel]
pub fn roundings_double(x: f64, y: f64, z: f64, mut r: DisjointSlice<[f64; 4]>) {
    put(&mut r, four_roundings(thread::index_1d().get(), x, y, z));
}

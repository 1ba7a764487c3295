//! Ordinary kernels with bounds checks, for what panics cost.

use ptx::prelude::*;

/// `y += a * x`, one check.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

/// Two checks, one of them of what was read.
#[kernel]
pub fn gather(indices: &[u32], values: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = values[indices[i.get()] as usize];
    }
}

/// Five checks.
#[kernel]
pub fn stencil(input: &[f32], width: usize, mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let at = i.get();
        *out = 0.2 * (input[at] + input[at + 1] + input[at - 1] + input[at + width] + input[at - width]);
    }
}

/// Checks in a loop.
#[kernel]
pub fn matmul(a: &[f32], b: &[f32], n: usize, mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        let (row, column) = (i.get() / n, i.get() % n);
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + column];
        }
        *c = sum;
    }
}

/// A range, a division and an `unwrap`.
#[kernel]
pub fn histogram(values: &[u32], bins: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let mut count = 0_u32;
        for &value in &values[i.get()..2 * i.get()] {
            count = count.checked_add(bins[value as usize % bins.len()]).unwrap();
        }
        *out = count / bins[0];
    }
}

/// A range, and arithmetic that takes many registers.
#[kernel]
pub fn n_body(positions: &[[f32; 4]], first: usize, last: usize, mut out: DisjointSlice<[f32; 3]>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let me = positions[i.get()];
        let mut force = [0.0; 3];
        for other in &positions[first..last] {
            let d = [other[0] - me[0], other[1] - me[1], other[2] - me[2]];
            let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-3;
            let s = other[3] / (r * r.sqrt());
            for axis in 0..3 {
                force[axis] += s * d[axis];
            }
        }
        *out = force;
    }
}

//! Ordinary kernels with bounds checks, for what panics cost.

use core::cell::RefCell;

use ptx::prelude::*;

/// What goes wrong, as users write it.
#[derive(Debug)]
pub enum Problem {
    /// A value of no use.
    Negative,
    /// Too many of them.
    Crowded,
}

/// Where it goes wrong.
#[derive(Debug)]
pub struct Fault {
    /// The number of the element.
    pub at: u32,
    /// What is there.
    pub value: f32,
    /// Why.
    pub problem: Problem,
}

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

/// Comparisons that are asserted, with what the user adds.
#[kernel]
pub fn compare(x: &[i32], mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let at = i.get();
        assert_eq!(x.len() % 2, 0);
        assert_ne!(x[at], 7, "element {at}");
        *out = x[at] + x[x.len() - 1 - at];
    }
}

/// Errors that are not expected: `core`'s, and a struct and an enum of the user's.
#[kernel]
pub fn errors(x: &[f32], mut out: DisjointSlice<u8>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let (at, value) = (i.get() as u32, x[i.get()]);
        let near = if value < 0.0 { Err(Fault { at, value, problem: Problem::Negative }) } else { Ok(value as u32) };
        let far = if at > 1 << 20 { Err(Problem::Crowded) } else { Ok(at) };
        let sum = near.unwrap() + far.expect("few elements");
        *out = u8::try_from(sum).unwrap();
    }
}

/// A cell that is borrowed twice, if the input says so.
#[kernel]
pub fn borrow(x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let cell = RefCell::new(x[i.get()]);
        let first = cell.borrow_mut();
        let second = if *first == 0 { *cell.borrow() } else { 0 };
        *out = *first + second;
    }
}

/// Options that are compared, and an error that shows itself in several ways.
#[kernel]
pub fn options(x: &[u32], y: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        let at = i.get();
        assert_eq!(x.get(at), y.get(at));
        let found = match x.get(at) {
            Some(0) => Err(None),
            Some(1) => Err(Some(at)),
            found => Ok(found.copied().unwrap_or(7)),
        };
        *out = found.unwrap();
    }
}

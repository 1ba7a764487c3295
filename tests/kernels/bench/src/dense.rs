//! Dense linear algebra.

use ptx::prelude::*;
use ptx::{Disjoint2d, Shared};

/// The product of square matrices, an element a thread.
#[kernel(dimensions = 2)]
pub fn matmul(a: &[f32], b: &[f32], n: usize, mut c: Disjoint2d<f32>) {
    let at = thread::index_2d();
    if let Some(c) = c.get_mut(at) {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[at.y() * n + k] * b[k * n + at.x()];
        }
        *c = sum;
    }
}

/// Rows and columns of a tile, and of a block of threads, of [`matmul_tiled`].
pub const TILE: usize = 16;

#[ptx::shared]
static TILE_OF_A: Shared<[f32; TILE * TILE]>;

#[ptx::shared]
static TILE_OF_B: Shared<[f32; TILE * TILE]>;

/// The same by tiles in shared memory; `n` is a multiple of [`TILE`].
///
/// # Safety
/// Blocks must have [`TILE`] × [`TILE`] threads.
#[kernel(dimensions = 2)]
pub unsafe fn matmul_tiled(a: &[f32], b: &[f32], n: usize, mut c: Disjoint2d<f32>) {
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let at = thread::index_2d();
    let mut sum = 0.0;
    for tile in (0..n).step_by(TILE) {
        // SAFETY: each thread writes its own element, and barriers stand between writing and reading.
        unsafe {
            TILE_OF_A.write(ty * TILE + tx, a[at.y() * n + tile + tx]);
            TILE_OF_B.write(ty * TILE + tx, b[(tile + ty) * n + at.x()]);
        }
        sync_threads();
        for k in 0..TILE {
            // SAFETY: as above.
            sum += unsafe { TILE_OF_A.read(ty * TILE + k) * TILE_OF_B.read(k * TILE + tx) };
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// C = α A B + β C in double precision.
#[kernel(dimensions = 2)]
pub fn dgemm(n: usize, alpha: f64, a: &[f64], b: &[f64], beta: f64, mut c: Disjoint2d<f64>) {
    let at = thread::index_2d();
    if let Some(c) = c.get_mut(at) {
        let row = &a[at.y() * n..(at.y() + 1) * n];
        let column = b.iter().skip(at.x()).step_by(n);
        let sum: f64 = row.iter().zip(column).map(|(a, b)| a * b).sum();
        *c = alpha * sum + beta * *c;
    }
}

/// A matrix, stored by columns, times a vector.
#[kernel]
pub fn gemv(a: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
    let rows = y.len();
    let row = thread::index_1d();
    if let Some(y) = y.get_mut(row) {
        *y = x.iter().enumerate().map(|(column, x)| a[column * rows + row.get()] * x).sum();
    }
}

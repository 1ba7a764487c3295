//! What neural networks consist of, besides products of matrices.

use core::f32::consts::FRAC_1_SQRT_2;

use ptx::math::Math;
use ptx::prelude::*;
use ptx::{RowsPerBlock, Shared};

/// Elements of a row of [`softmax`] and [`layer_norm`].
pub const WIDTH: usize = 64;

/// A row a thread.
#[kernel]
pub fn softmax(rows: &[[f32; WIDTH]], mut results: DisjointSlice<[f32; WIDTH]>) {
    let i = thread::index_1d();
    if let Some(result) = results.get_mut(i) {
        let row = &rows[i.get()];
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = row.iter().map(|x| (x - largest).exp()).sum();
        for (result, x) in result.iter_mut().zip(row) {
            *result = (x - largest).exp() / sum;
        }
    }
}

/// A row a thread.
#[kernel]
pub fn layer_norm(rows: &[[f32; WIDTH]], scale: &[f32], shift: &[f32], mut results: DisjointSlice<[f32; WIDTH]>) {
    let i = thread::index_1d();
    if let Some(result) = results.get_mut(i) {
        let row = &rows[i.get()];
        let mean = row.iter().sum::<f32>() / WIDTH as f32;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / WIDTH as f32;
        let inverse = (variance + 1e-5).rsqrt();
        for (((result, x), scale), shift) in result.iter_mut().zip(row).zip(scale).zip(shift) {
            *result = (x - mean) * inverse * scale + shift;
        }
    }
}

/// Threads of a block of [`softmax_block`].
pub const THREADS: usize = 256;

#[ptx::shared]
static PARTIAL: Shared<[f32; THREADS]>;

/// One value out of those of all threads of the block.
///
/// # Safety
/// All [`THREADS`] threads of the block must call it together, and nobody else may use [`PARTIAL`] meanwhile.
#[inline]
unsafe fn combine(value: f32, by: impl Fn(f32, f32) -> f32) -> f32 {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread writes its own element, and reads others after a barrier.
    unsafe { PARTIAL.write(t, value) };
    sync_threads();
    let mut half = THREADS / 2;
    while half > 0 {
        if t < half {
            // SAFETY: in this round the upper half is read only.
            unsafe { PARTIAL.write(t, by(PARTIAL.read(t), PARTIAL.read(t + half))) };
        }
        sync_threads();
        half /= 2;
    }
    // SAFETY: written before the last barrier.
    let result = unsafe { PARTIAL.read(0) };
    // Nobody writes the next values before all have read this one.
    sync_threads();
    result
}

/// A row a block.
///
/// # Safety
/// Blocks must have [`THREADS`] threads.
#[kernel(dimensions = 1)]
pub unsafe fn softmax_block(x: &[f32], mut result: RowsPerBlock<f32>) {
    let (t, width) = (thread::thread_idx_x() as usize, result.width());
    let mut result = result.row();
    let row = &x[result.number() * width..][..width];
    let mut largest = f32::NEG_INFINITY;
    for column in (t..width).step_by(THREADS) {
        largest = largest.max(row[column]);
    }
    // SAFETY: all threads of the block are here.
    let largest = unsafe { combine(largest, f32::max) };
    let mut sum = 0.0;
    for column in (t..width).step_by(THREADS) {
        sum += (row[column] - largest).exp();
    }
    // SAFETY: all threads of the block are here.
    let sum = unsafe { combine(sum, |a, b| a + b) };
    for (column, result) in result.iter_mut() {
        *result = (row[column] - largest).exp() / sum;
    }
}

/// The Gaussian error linear unit.
#[kernel]
pub fn gelu(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let x = x[i.get()];
        *y = 0.5 * x * (1.0 + Math::erf(x * FRAC_1_SQRT_2));
    }
}

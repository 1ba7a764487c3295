//! Streams: kernels that do little but move memory.

use ptx::prelude::*;
use ptx::{DisjointTiles, Shared, Transposed};

#[kernel]
pub fn copy(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[i.get()];
    }
}

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

#[kernel]
pub fn triad(a: f32, x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(z) = z.get_mut(i) {
        *z = x[i.get()] + a * y[i.get()];
    }
}

/// Rows and columns of a tile of [`transpose`].
pub const TILE: usize = 32;

/// Rows of threads of a block of [`transpose`], each of which moves several elements of a column.
pub const ROWS: usize = 8;

// One more column than a tile has, so that the elements of a column are in different banks.
#[ptx::shared]
static TRANSPOSED: Shared<[f32; TILE * (TILE + 1)]>;

/// # Safety
/// Blocks must have [`TILE`] × [`ROWS`] threads, and `to` must have as many columns as `from` has rows, which is `height`.
#[kernel(dimensions = 2)]
pub unsafe fn transpose(from: &[f32], width: u32, height: u32, mut to: DisjointTiles<f32, TILE, ROWS, Transposed>) {
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * TILE as u32, thread::block_idx_y() * TILE as u32);
    for step in (0..TILE as u32).step_by(ROWS) {
        let row = ty + step;
        let (x, y) = (left + tx, top + row);
        if x < width && y < height {
            let value = from[y as usize * width as usize + x as usize];
            // SAFETY: no other thread of the block has this row and column.
            unsafe { TRANSPOSED.write((row * (TILE as u32 + 1) + tx) as usize, value) };
        }
    }
    sync_threads();
    for k in 0..TILE / ROWS {
        if let Some(to) = to.get_mut(k) {
            // SAFETY: `from` has the transposed element, so it was written before the barrier.
            *to = unsafe { TRANSPOSED.read(tx as usize * (TILE + 1) + ty as usize + k * ROWS) };
        }
    }
}

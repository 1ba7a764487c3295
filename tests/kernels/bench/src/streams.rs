//! Streams: kernels that do little but move memory.

use ptx::Shared;
use ptx::prelude::*;

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
/// Blocks must have [`TILE`] × [`ROWS`] threads, and `to` must have `width` × `height` elements.
#[kernel]
pub unsafe fn transpose(from: &[f32], width: usize, height: usize, mut to: DisjointSlice<f32>) {
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (left, top) = (thread::block_idx_x() as usize * TILE, thread::block_idx_y() as usize * TILE);
    for step in (0..TILE).step_by(ROWS) {
        let row = ty + step;
        let (x, y) = (left + tx, top + row);
        if x < width && y < height {
            // SAFETY: no other thread of the block has this row and column.
            unsafe { TRANSPOSED.write(row * (TILE + 1) + tx, from[y * width + x]) };
        }
    }
    sync_threads();
    for step in (0..TILE).step_by(ROWS) {
        let row = ty + step;
        let (x, y) = (top + tx, left + row);
        if x < height && y < width {
            // SAFETY: the element was written before the barrier; no other thread of the launch has this place.
            unsafe { *to.get_unchecked_mut(y * height + x) = TRANSPOSED.read(tx * (TILE + 1) + row) };
        }
    }
}

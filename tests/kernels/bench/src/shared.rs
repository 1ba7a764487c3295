//! The kernels with shared memory once more without `unsafe`; their twins are those of the others.

use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedBuffers, SharedTile};
use ptx::{Dim3, Disjoint2d, DisjointTiles, PerBlock, Transposed};

use crate::dense::TILE as SQUARE;
use crate::reductions::{BINS, THREADS};
use crate::streams::{ROWS, TILE};

type Square = Array2d<f32, SQUARE, SQUARE>;

/// See [`matmul_tiled`](crate::dense::matmul_tiled).
#[kernel(dimensions = 2)]
pub fn matmul_tiled_safe(
    a: &[f32],
    b: &[f32],
    n: usize,
    mut c: Disjoint2d<f32>,
    #[shared] mut tiles: SharedTile<(Square, Square)>,
) {
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let at = thread::index_2d();
    let mut sum = 0.0;
    for tile in (0..n).step_by(SQUARE) {
        let (mut tile_of_a, mut tile_of_b) = tiles.own();
        // Both are under way before either is needed.
        let (of_a, of_b) = (a[at.y() * n + tile + tx], b[(tile + ty) * n + at.x()]);
        tile_of_a.set(of_a);
        tile_of_b.set(of_b);
        let filled = tiles.publish();
        let (tile_of_a, tile_of_b) = &*filled;
        for k in 0..SQUARE {
            sum += tile_of_a[ty][k] * tile_of_b[k][tx];
        }
        tiles = filled.reclaim();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// See [`transpose`](crate::streams::transpose).
#[kernel(dimensions = 2)]
pub fn transpose_safe(
    from: &[f32],
    width: u32,
    height: u32,
    mut to: DisjointTiles<f32, TILE, ROWS, Transposed>,
    #[shared] mut tile: SharedTile<Array2d<f32, TILE, TILE, 1>>,
) {
    assert!(thread::block_dim() == Dim3::new(TILE as u32, ROWS as u32, 1), "blocks have 32 by 8 threads");
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * TILE as u32, thread::block_idx_y() * TILE as u32);
    tile.own().for_each(|row, column, element| {
        let (x, y) = (left + column as u32, top + row as u32);
        if x < width && y < height {
            *element = from[y as usize * width as usize + x as usize];
        }
    });
    let tile = tile.publish();
    for k in 0..TILE / ROWS {
        if let Some(to) = to.get_mut(k) {
            *to = tile[tx as usize][ty as usize + k * ROWS];
        }
    }
}

/// See [`reduce`](crate::reductions::reduce).
#[kernel(dimensions = 1)]
pub fn reduce_safe(x: &[f32], mut sums: PerBlock<f32>, #[shared] mut partial: SharedBuffers<[f32; THREADS]>) {
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut sum = 0.0;
    for i in (thread::index_1d().get()..x.len()).step_by(stride) {
        sum += x[i];
    }
    let t = thread::thread_idx_x() as usize;
    let mut half = THREADS / 2;
    while half > 0 {
        partial.own().set(sum);
        partial.swap();
        if t < half {
            sum += partial[t + half];
        }
        half /= 2;
    }
    if let Some(out) = sums.part().get_mut() {
        *out = sum;
    }
}

/// See [`scan`](crate::reductions::scan).
#[kernel(dimensions = 1)]
pub fn scan_safe(x: &[u32], mut sums: DisjointSlice<u32>, #[shared] mut scanned: SharedBuffers<[u32; THREADS]>) {
    let i = thread::index_1d();
    let t = thread::thread_idx_x() as usize;
    let mut sum = x.get(i.get()).copied().unwrap_or(0);
    let mut distance = 1;
    while distance < THREADS {
        scanned.own().set(sum);
        scanned.swap();
        if t >= distance {
            sum = sum.wrapping_add(scanned[t - distance]);
        }
        distance *= 2;
    }
    if let Some(out) = sums.get_mut(i) {
        *out = sum;
    }
}

/// See [`histogram`](crate::reductions::histogram).
#[kernel(dimensions = 1)]
pub fn histogram_safe(
    data: &[u8],
    counts: AtomicSlice<u32, Device>,
    #[shared] mut bins: SharedTile<[Atomic<u32, Block>; BINS]>,
) {
    let first = thread::index_1d().get();
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    bins.own().fill(|_| Atomic::new(0));
    let counting = bins.publish();
    for i in (first..data.len()).step_by(stride) {
        counting[usize::from(data[i])].fetch_add(1, Ordering::Relaxed);
    }
    for (bin, count) in counting.reclaim().own().iter_mut() {
        counts[bin].fetch_add(*count.get_mut(), Ordering::Relaxed);
    }
}

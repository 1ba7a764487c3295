//! Kernels whose threads work together in a block's shared memory, none with `unsafe`.
//!
//! Each takes that memory as a parameter with `#[shared]`, which the host does not pass. The book's page "Shared memory"
//! says how to choose its type.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::cooperative::{self, WarpGroup as _};
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedBuffers, SharedTile, WarpArray};
use ptx::{Dim3, Disjoint2d, DisjointTiles, PerBlock, Transposed};

/// Rows and columns of a tile, and of a block of threads, of [`matmul`].
pub const TILE: usize = 16;

type Square = Array2d<f32, TILE, TILE>;

/// C = A B, where A has rows of `depth` elements and B as many rows.
///
/// Each block computes a tile of C. Its threads load a tile of A and one of B, from which all of them then read, so that
/// each element of A and B is loaded once in 16 products.
#[kernel(dimensions = 2, launch_bounds(256))]
pub fn matmul(
    a: &[f32],
    b: &[f32],
    depth: usize,
    mut c: Disjoint2d<f32>,
    #[shared] mut tiles: SharedTile<(Square, Square)>,
) {
    assert!(thread::block_dim() == Dim3::new(TILE as u32, TILE as u32, 1), "blocks have 16 by 16 threads");
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let at = thread::index_2d();
    let (width, height) = (c.width(), c.height());
    let mut sum = 0.0;
    for first in (0..depth).step_by(TILE) {
        // Past the edges there are zeros, which add nothing.
        let of_a = if at.y() < height && first + tx < depth { a[at.y() * depth + first + tx] } else { 0.0 };
        let of_b = if at.x() < width && first + ty < depth { b[(first + ty) * width + at.x()] } else { 0.0 };
        let (mut tile_of_a, mut tile_of_b) = tiles.own();
        tile_of_a.set(of_a);
        tile_of_b.set(of_b);
        let filled = tiles.publish();
        let (tile_of_a, tile_of_b) = &*filled;
        for k in 0..TILE {
            sum += tile_of_a[ty][k] * tile_of_b[k][tx];
        }
        tiles = filled.reclaim();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// Rows and columns of a tile of [`transpose`].
pub const SIDE: usize = 32;

/// Rows of threads of its blocks, each of which moves four elements.
pub const ROWS: usize = 8;

/// `to` is `from` with rows and columns exchanged, where `from` has `height` rows of `width` elements.
///
/// Both are read and written row by row, as memory is fast, and exchanged in the tile. One element more a row of the tile
/// keeps a column's elements in different banks.
#[kernel(dimensions = 2, launch_bounds(256))]
pub fn transpose(
    from: &[f32],
    width: u32,
    height: u32,
    mut to: DisjointTiles<f32, SIDE, ROWS, Transposed>,
    #[shared] mut tile: SharedTile<Array2d<f32, SIDE, SIDE, 1>>,
) {
    assert!(thread::block_dim() == Dim3::new(SIDE as u32, ROWS as u32, 1), "blocks have 32 by 8 threads");
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (left, top) = (thread::block_idx_x() * SIDE as u32, thread::block_idx_y() * SIDE as u32);
    tile.own().for_each(|row, column, element| {
        let (x, y) = (left + column as u32, top + row as u32);
        if x < width && y < height {
            *element = from[y as usize * width as usize + x as usize];
        }
    });
    let tile = tile.publish();
    for k in 0..SIDE / ROWS {
        if let Some(to) = to.get_mut(k) {
            *to = tile[tx][ty + k * ROWS];
        }
    }
}

/// A sum for every block, of elements that are a grid apart.
///
/// Each thread adds up its elements, each warp its threads' sums by shuffles; one element a warp is shared.
#[kernel(dimensions = 1)]
pub fn reduce(x: &[f32], mut sums: PerBlock<f32>, #[shared] mut of_warps: SharedTile<WarpArray<f32>>) {
    let mine: f32 = thread::grid_stride(x.len()).map(|i| x[i]).sum();
    of_warps.own().set(cooperative::tile::<32>().reduce(mine, |a, b| a + b));
    let of_warps = of_warps.publish();
    // `None` for all threads but the first.
    if let Some(sum) = sums.part().get_mut() {
        *sum = of_warps[..thread::block_dim_x().div_ceil(32) as usize].iter().sum();
    }
}

/// Threads of a block of [`scan`], and elements that are added up together.
pub const SCANNED: usize = 256;

/// For each element the sum of its block's up to it, which is included (Hillis and Steele).
///
/// Each of eight steps reads what the one before wrote: with two buffers that is one barrier a step.
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn scan(x: &[u32], mut sums: DisjointSlice<u32>, #[shared] mut steps: SharedBuffers<[u32; SCANNED]>) {
    let i = thread::index_1d();
    let t = thread::thread_idx_x() as usize;
    let mut sum = x.get(i.get()).copied().unwrap_or(0);
    let mut distance = 1;
    while distance < SCANNED {
        steps.own().set(sum);
        steps.swap();
        if t >= distance {
            sum = sum.wrapping_add(steps[t - distance]);
        }
        distance *= 2;
    }
    if let Some(out) = sums.get_mut(i) {
        *out = sum;
    }
}

/// How often each byte occurs, added to `counts`.
///
/// Each block counts in its own bins, by atomics in shared memory, and adds them to the result once: as long as they are
/// readable, all threads may change atomics; before and after that, each bin is one thread's.
#[kernel(dimensions = 1)]
pub fn histogram(
    data: &[u8],
    counts: AtomicSlice<u32, Device>,
    #[shared] mut bins: SharedTile<[Atomic<u32, Block>; 256]>,
) {
    bins.own().fill(|_| Atomic::new(0));
    let counting = bins.publish();
    thread::grid_stride(data.len()).for_each(|i| {
        counting[usize::from(data[i])].fetch_add(1, Ordering::Relaxed);
    });
    for (bin, count) in counting.reclaim().own().iter_mut() {
        counts[bin].fetch_add(*count.get_mut(), Ordering::Relaxed);
    }
}

/// Weights of [`stencil`].
pub const WEIGHTS: [f32; 7] = [0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05];

/// Elements at either side that a thread of [`stencil`] needs.
pub const HALO: usize = WEIGHTS.len() / 2;

/// Threads of a block of [`stencil`].
pub const POINTS: usize = 256;

/// Each element's weighted mean with its neighbours; past the ends there are zeros.
///
/// The tile has the block's elements and a halo of three at either side; `fill` shares them out among the threads, so that
/// some load two.
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn stencil(x: &[f32], mut y: DisjointSlice<f32>, #[shared] mut tile: SharedTile<[f32; POINTS + 2 * HALO]>) {
    let first = thread::block_idx_x() as usize * POINTS;
    tile.own().fill(|e| (first + e).checked_sub(HALO).and_then(|i| x.get(i)).copied().unwrap_or(0.0));
    let tile = tile.publish();
    let t = thread::thread_idx_x() as usize;
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = tile[t..t + WEIGHTS.len()].iter().zip(WEIGHTS).map(|(x, weight)| x * weight).sum();
    }
}

//! Shared memory as a kernel's parameter: phases, whose elements are whose, memory that the launch gives, divergence.

use ptx::atomic::{Atomic, AtomicSlice, Block, Device, Ordering};
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedBuffers, SharedTile, Slices, Transposed2d, WarpArray};
use ptx::{Dim3, PerBlock};

/// Reverses the elements of every block of 64, `rounds` times.
#[kernel]
pub fn shared_rounds(rounds: u32, mut data: DisjointSlice<u32>, #[shared] mut tile: SharedTile<[u32; 64]>) {
    let i = thread::index_1d();
    let Some(own) = data.get_mut(i) else { return };
    for _ in 0..rounds {
        tile.own().set(*own);
        let view = tile.publish();
        *own = view[63 - thread::thread_idx_x() as usize];
        tile = view.reclaim();
    }
}

/// What [`shared_rounds`] leaves of the numbers from 0.
pub fn after_rounds(rounds: u32, i: u32) -> u32 {
    if rounds.is_multiple_of(2) { i } else { i / 64 * 64 + 63 - i % 64 }
}

/// Columns and rows of the planes of [`shared_owners`].
pub const W: usize = 11;
pub const H: usize = 10;

/// Every element of each form, as [`mark`] of the thread that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, AbiType)]
#[repr(C)]
pub struct Owners {
    pub row: [u32; 100],
    pub wide: [[u32; 3]; 20],
    pub plane: [[u32; W]; H],
    pub transposed: [[u32; W]; H],
    pub warps: [u32; 8],
}

/// An element of that number, written by the thread of that rank.
pub fn mark(element: usize, rank: u32) -> u32 {
    element as u32 * 2048 + rank + 1
}

/// Every form, in one object.
type Forms = ([u32; 100], [[u32; 3]; 20], Array2d<u32, W, H>, Transposed2d<u32, W, H, 2>, WarpArray<u32, 8>);

#[kernel]
pub fn shared_owners(mut out: PerBlock<Owners>, #[shared] mut tiles: SharedTile<Forms>) {
    let (at, of) = (thread::thread_idx(), thread::block_dim());
    let rank = at.x + of.x * (at.y + of.y * at.z);
    let (mut row, mut wide, mut plane, mut transposed, mut warps) = tiles.own();
    row.fill(|e| mark(e, rank));
    wide.iter_mut().for_each(|(e, own)| *own = [mark(e, rank); 3]);
    plane.fill(|row, column| mark(row * W + column, rank));
    transposed.for_each(|row, column, own| *own = mark(row * W + column, rank));
    warps.set(mark(0, rank));
    let tiles = tiles.publish();
    if let Some(out) = out.part().get_mut() {
        *out = Owners {
            row: tiles.0,
            wide: tiles.1,
            plane: core::array::from_fn(|row| *tiles.2[row]),
            transposed: core::array::from_fn(|row| *tiles.3[row]),
            warps: tiles.4[..].try_into().unwrap_or([0; 8]),
        };
    }
}

/// Blocks that [`owners`] is true of.
pub const SHAPES: [Dim3; 9] = [
    Dim3::new(1, 1, 1),
    Dim3::new(4, 3, 1),
    Dim3::new(11, 10, 1),
    Dim3::new(32, 4, 1),
    Dim3::new(5, 4, 3),
    Dim3::new(3, 7, 2),
    // As many threads as a row has elements, a half, and a quarter.
    Dim3::new(25, 2, 2),
    Dim3::new(10, 5, 1),
    Dim3::new(25, 1, 1),
];

/// What [`shared_owners`] must find; of warps that the block does not have, what is in `found`.
pub fn owners(block: Dim3, found: &Owners) -> Owners {
    let threads = block.x * block.y * block.z;
    let by_rank = |e: usize| mark(e, e as u32 % threads);
    let at = |row: usize, column: usize, y: usize, x: usize| {
        mark(row * W + column, x as u32 % block.x + block.x * (y as u32 % block.y))
    };
    Owners {
        row: core::array::from_fn(by_rank),
        wide: core::array::from_fn(|e| [by_rank(e); 3]),
        plane: core::array::from_fn(|r| core::array::from_fn(|c| at(r, c, r, c))),
        transposed: core::array::from_fn(|r| core::array::from_fn(|c| at(r, c, c, r))),
        warps: core::array::from_fn(|w| if 32 * w as u32 >= threads { found.warps[w] } else { mark(0, 32 * w as u32) }),
    }
}

/// Counts bytes: bins are cleared, counted in by all, and added up by their owners.
#[kernel]
pub fn shared_histogram(
    data: &[u8],
    counts: AtomicSlice<u32, Device>,
    #[shared] mut bins: SharedTile<[Atomic<u32, Block>; 256]>,
) {
    bins.own().fill(|_| Atomic::new(0));
    let counting = bins.publish();
    for i in thread::grid_stride(data.len()) {
        counting[usize::from(data[i])].fetch_add(1, Ordering::Relaxed);
    }
    for (bin, count) in counting.reclaim().own().iter_mut() {
        counts[bin].fetch_add(*count.get_mut(), Ordering::Relaxed);
    }
}

/// Sums up to each element of a block of 128.
#[kernel]
pub fn shared_scan(mut data: DisjointSlice<u32>, #[shared] mut sums: SharedBuffers<[u32; 128]>) {
    let t = thread::thread_idx_x() as usize;
    let Some(own) = data.get_mut(thread::index_1d()) else { return };
    for distance in [1, 2, 4, 8, 16, 32, 64] {
        sums.own().set(*own);
        sums.swap();
        *own += if t >= distance { sums[t - distance] } else { 0 };
    }
    // Front and back at once: the front still has the sums of the last step but one.
    let (mut back, front) = sums.both();
    back.set(front[t] + *own);
    if let Some(back) = back.get_mut() {
        *own = *back - front[t];
    }
}

/// Reverses each block's elements by memory that the launch gives, and adds to each.
#[kernel]
pub fn shared_dynamic(
    mut data: DisjointSlice<u64>,
    #[shared(dynamic)] mut memory: SharedTile<[u64]>,
    #[shared] mut offsets: SharedTile<[u64; 1]>,
    add: u64,
) {
    let Some(own) = data.get_mut(thread::index_1d()) else { return };
    memory.own().fill(|_| 0);
    memory.own().set(*own);
    offsets.own().set(add);
    let (memory, offsets) = (memory.publish(), offsets.publish());
    let threads = thread::block_dim_x() as usize;
    // What is past the threads is zero.
    let rest = memory.last().filter(|_| memory.len() > threads).copied().unwrap_or(0);
    *own = memory[threads - 1 - thread::thread_idx_x() as usize] + offsets[0] + rest;
}

/// Three parts of different types.
type Parts = Slices<(u8, u64, [u32; 3])>;

#[kernel]
pub fn shared_parts(mut data: DisjointSlice<u64>, #[shared(dynamic)] mut memory: SharedTile<Parts>) {
    let (mut bytes, mut words, mut triples) = memory.own();
    bytes.fill(|i| i as u8);
    words.fill(|i| i as u64 * 1000);
    triples.fill(|i| [i as u32; 3]);
    let memory = memory.publish();
    let (bytes, words, triples) = memory.get();
    if let Some(data) = data.get_mut(thread::index_1d()) {
        let t = thread::thread_idx_x() as usize;
        let triple = triples.get(t).map_or(0, |triple| u64::from(triple.iter().sum::<u32>()));
        *data = u64::from(bytes[t]) + words.get(t).copied().unwrap_or(0) + 1_000_000 * triple;
    }
}

/// What [`shared_parts`] computes with seven bytes, five words and three triples.
pub const PARTS: [u64; 7] = [0, 3_001_001, 6_002_002, 3003, 4004, 5, 6];

/// The two halves of a warp wait at the barrier from different places, in both orders of writing; nothing is lost.
#[kernel]
pub fn shared_diverge(mut data: DisjointSlice<u32>, #[shared] mut tile: SharedTile<[u32; 96]>) {
    let t = thread::thread_idx_x();
    let Some(own) = data.get_mut(thread::index_1d()) else { return };
    let view = if t.is_multiple_of(2) {
        tile.own().set(*own);
        tile.publish()
    } else {
        tile.own().set(*own + 1);
        tile.publish()
    };
    *own = view[(t as usize + 33) % 96];
}

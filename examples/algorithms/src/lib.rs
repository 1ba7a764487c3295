//! Six algorithms that programs often have, as kernels, none with `unsafe`: n-body, Monte Carlo, a sparse matrix by warps,
//! conjugate gradients by all blocks together, stream compaction and string search.
#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::atomic::{AtomicSlice, Device, Ordering::Relaxed};
use ptx::block::Reduce;
use ptx::cooperative::{self, Group as _, WarpGroup as _};
use ptx::prelude::*;
use ptx::random::{Generator, Mrg32k3a, Philox4x32, Xorwow};
use ptx::shared::SharedTile;
use ptx::vec::Float4;
use ptx::{PerBlock, PerWarp, warp};

/// Threads of a block of [`accelerations`], and bodies of a tile.
pub const BODIES: usize = 128;

/// What is added to squared distances, so that bodies do not meet.
pub const SOFTENING: f32 = 0.01;

/// The acceleration of each body by all: place and mass in, three numbers and a zero out.
///
/// Each thread has a body. The others are loaded into shared memory tile by tile, each by one thread for all of the block.
#[kernel(dimensions = 1, launch_bounds(128))]
pub fn accelerations(
    bodies: &[Float4],
    mut out: DisjointSlice<Float4>,
    #[shared] mut tile: SharedTile<[Float4; BODIES]>,
) {
    const NOWHERE: Float4 = Float4::new(0.0, 0.0, 0.0, 0.0);
    let i = thread::index_1d();
    let own = bodies.get(i.get()).copied().unwrap_or(NOWHERE);
    let mut sum = [0.0_f32; 3];
    for first in (0..bodies.len()).step_by(BODIES) {
        // Past the end there are bodies without mass.
        tile.own().fill(|k| bodies.get(first + k).copied().unwrap_or(NOWHERE));
        let filled = tile.publish();
        for other in filled.iter() {
            let [x, y, z] = [other.x - own.x, other.y - own.y, other.z - own.z];
            let squared = x * x + y * y + z * z + SOFTENING;
            let inverse = 1.0 / squared.sqrt();
            let pull = other.w * inverse * inverse * inverse;
            sum = [sum[0] + pull * x, sum[1] + pull * y, sum[2] + pull * z];
        }
        tile = filled.reclaim();
    }
    if let Some(out) = out.get_mut(i) {
        *out = Float4::new(sum[0], sum[1], sum[2], 0.0);
    }
}

/// Threads of a block of [`points_in_circle`].
pub const THROWERS: usize = 256;

/// How many of `tries` random points a thread fall into the quarter of a circle, for each block. The numbers are those of
/// CURAND's generator `G`.
///
/// Without fusing, so that a point on the edge is in or out as on the CPU.
#[kernel(instantiate(Philox4x32, Xorwow, Mrg32k3a), dimensions = 1, launch_bounds(256))]
#[ptx::float(fmad = false)]
pub fn points_in_circle<G: Generator>(
    seed: u64,
    tries: u32,
    mut inside: PerBlock<u32>,
    #[shared] mut block: Reduce<u32, THROWERS>,
) {
    // A subsequence for each thread.
    let mut random = G::new(seed, thread::index_1d().get() as u64, 0);
    let own = (0..tries).map(|_| u32::from(is_in_circle(&mut random))).sum();
    if let (Some(sum), Some(inside)) = (block.sum_to_first(own), inside.part().get_mut()) {
        *inside = sum;
    }
}

/// Whether the next point is.
pub fn is_in_circle(random: &mut impl Generator) -> bool {
    let (x, y) = (random.uniform(), random.uniform());
    x * x + y * y <= 1.0
}

/// y = A x, where row `i` of the sparse matrix has the entries `offsets[i]..offsets[i + 1]` of `columns` and `values` (CSR).
///
/// Each warp has a row, whose entries its lanes share: neighbours read neighbours.
#[kernel(dimensions = 1)]
pub fn spmv(offsets: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: PerWarp<f32>) {
    let warp = cooperative::tile::<32>();
    for mut row in y.parts() {
        let entries = offsets[row.number()] as usize..offsets[row.number() + 1] as usize;
        let (columns, values) = (&columns[entries.clone()], &values[entries]);
        let own = (warp.rank() as usize..columns.len()).step_by(32).map(|k| values[k] * x[columns[k] as usize]).sum();
        let sum = warp.reduce(own, |a: f32, b| a + b);
        // `None` for all lanes but the first.
        if let Some(y) = row.get_mut() {
            *y = sum;
        }
    }
}

/// What [`conjugate_gradient`] solves, and how well.
#[derive(Clone, Copy, Debug, AbiType)]
#[repr(C)]
pub struct Problem {
    /// Rows and columns of the square.
    pub side: u32,
    /// It ends when r·r is at most this.
    pub small: f32,
}

/// Solves A x = b by conjugate gradients in one launch, where A is the Laplacian of a square of points: four times each
/// point less its neighbours. `x` and `r` have such a square, `p` too; `dots` has two zeros for each round that there may
/// be and one more.
///
/// All blocks wait for each other three times a round, so the launch is cooperative. What a thread reads of others' is in
/// atomics, which need no order of their own: the grid's barrier gives it.
#[kernel(cooperative, dimensions = 1)]
pub fn conjugate_gradient(
    problem: Problem,
    b: &[f32],
    mut x: DisjointSlice<f32>,
    mut r: DisjointSlice<f32>,
    p: AtomicSlice<f32, Device>,
    dots: AtomicSlice<f32, Device>,
    barrier: AtomicSlice<u32, Device>,
) {
    let side = problem.side as usize;
    let (all, warp) = (cooperative::grid(&barrier[0]), cooperative::tile::<32>());
    // An atomic a warp.
    let add = |to: usize, own: f32| {
        let sum = warp.reduce(own, |a, b| a + b);
        warp.invoke_one(|| dots[to].fetch_add(sum, Relaxed));
    };
    let at = |i: usize| p[i].load(Relaxed);
    let of_a = |i: usize| {
        let (column, row) = (i % side, i / side);
        let mut sum = 4.0 * at(i);
        for (is_there, other) in [
            (column > 0, i.wrapping_sub(1)),
            (column + 1 < side, i + 1),
            (row > 0, i.wrapping_sub(side)),
            (row + 1 < side, i + side),
        ] {
            if is_there {
                sum -= at(other);
            }
        }
        sum
    };

    // x = 0, r = p = b
    let mut own = 0.0;
    for ((i, x), (_, r)) in x.grid_stride().zip(r.grid_stride()) {
        (*x, *r) = (0.0, b[i]);
        p[i].store(b[i], Relaxed);
        own += b[i] * b[i];
    }
    add(0, own);
    all.sync();
    let mut before = dots[0].load(Relaxed);
    for round in 0..dots.len() / 2 {
        // The same number in all threads.
        if before <= problem.small {
            break;
        }
        add(2 * round + 1, thread::grid_stride(p.len()).map(|i| at(i) * of_a(i)).sum());
        all.sync();
        let alpha = before / dots[2 * round + 1].load(Relaxed);
        let mut own = 0.0;
        for ((i, x), (_, r)) in x.grid_stride().zip(r.grid_stride()) {
            *x += alpha * at(i);
            *r -= alpha * of_a(i);
            own += *r * *r;
        }
        add(2 * round + 2, own);
        all.sync();
        let after = dots[2 * round + 2].load(Relaxed);
        for (i, r) in r.grid_stride() {
            p[i].store(*r + after / before * at(i), Relaxed);
        }
        before = after;
        all.sync();
    }
}

/// Whether [`compact`] keeps a value.
pub fn is_kept(value: u32) -> bool {
    value.is_multiple_of(3)
}

/// The values that are kept, one behind the other in any order, and how many they are.
///
/// Threads of a warp that keep theirs at the same time take places by one atomic together.
#[kernel(dimensions = 1)]
pub fn compact(values: &[u32], kept: AtomicSlice<u32, Device>, count: AtomicSlice<u32, Device>) {
    for i in thread::grid_stride(values.len()) {
        if is_kept(values[i]) {
            let together = cooperative::coalesced();
            let first = together.invoke_one_broadcast(|| count[0].fetch_add(together.size(), Relaxed));
            kept[(first + together.rank()) as usize].store(values[i], Relaxed);
        }
    }
}

/// Threads of a block of [`string_search`].
pub const SEARCHERS: usize = 256;

/// The longest pattern.
pub const MOST_PATTERN: usize = 64;

/// Where the pattern begins in the text: a bit for each place, 32 in a word.
///
/// Each block loads its part of the text into shared memory, and as much behind it as the pattern may reach. The threads of
/// a warp vote, which makes the word.
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn string_search(
    text: &[u8],
    pattern: &[u8],
    mut found: PerWarp<u32>,
    #[shared] mut tile: SharedTile<[u8; SEARCHERS + MOST_PATTERN]>,
) {
    assert!(!pattern.is_empty() && pattern.len() <= MOST_PATTERN, "the pattern has 1 to 64 bytes");
    let first = thread::block_idx_x() as usize * SEARCHERS;
    tile.own().fill(|k| text.get(first + k).copied().unwrap_or(0));
    let tile = tile.publish();
    let t = thread::thread_idx_x() as usize;
    let has_room = first + t + pattern.len() <= text.len();
    let is_here = has_room && pattern.iter().zip(&tile[t..]).all(|(a, b)| a == b);
    let bits = warp::ALL.ballot(is_here).bits();
    if let Some(word) = found.part().get_mut() {
        *word = bits;
    }
}

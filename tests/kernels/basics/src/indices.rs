//! Every form of index: which thread writes which element.

use ptx::hint::{self, Unroll as _};
use ptx::prelude::*;
use ptx::{
    Disjoint2d, Disjoint3d, DisjointStrided, DisjointTiles, PerBlock, PerThread, PerWarp, RowsPerBlock, RowsPerThread,
    RowsPerWarp, Shared, Transposed,
};

/// Adds its index to every element, with as many threads as there are.
#[kernel]
pub fn stride_each(mut data: DisjointSlice<u32>) {
    data.grid_stride().for_each(|(i, element)| *element += i as u32);
}

/// The same by a `for` loop, in a kernel that knows its launch.
#[kernel(dimensions = 1)]
pub fn stride_loop(mut data: DisjointSlice<u32>) {
    for (i, element) in data.grid_stride() {
        *element += i as u32;
    }
}

/// The sum of every thread's numbers.
#[kernel(dimensions = 1)]
pub fn stride_sums(x: &[u32], mut sums: DisjointSlice<u32>) {
    let sum = thread::grid_stride(x.len()).map(|i| x[i]).sum();
    if let Some(out) = sums.get_mut(thread::index_1d()) {
        *out = sum;
    }
}

/// Writes `1000 * y + x`.
#[kernel(dimensions = 2)]
pub fn plane(mut out: Disjoint2d<u32>) {
    let at = thread::index_2d();
    if let Some(out) = out.get_mut(at) {
        *out = (1000 * at.y() + at.x()) as u32;
    }
}

/// Adds up an element and its eight neighbours on a torus: enough indices for a copy of the kernel in which they have 32 bits.
#[kernel(dimensions = 2)]
pub fn neighbours(from: &[u32], mut out: Disjoint2d<u32>) {
    let (width, height) = (out.width(), out.height());
    let at = thread::index_2d();
    let Some(out) = out.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let columns = [if x == 0 { width - 1 } else { x - 1 }, x, if x + 1 == width { 0 } else { x + 1 }];
    let rows = [if y == 0 { height - 1 } else { y - 1 }, y, if y + 1 == height { 0 } else { y + 1 }];
    let mut sum = 0_u32;
    for row in rows {
        for column in columns {
            sum = sum.wrapping_add(from[row * width + column]);
        }
    }
    *out = sum;
}

/// Writes `10000 * z + 100 * y + x`.
#[kernel]
pub fn volume(mut out: Disjoint3d<u32>) {
    let at = thread::index_3d();
    if let Some(out) = out.get_mut(at) {
        *out = (10_000 * at.z() + 100 * at.y() + at.x()) as u32;
    }
}

/// Adds one to an element for each block and warp, and to four for each thread: in a launch of any dimensions.
#[kernel]
pub fn groups(mut blocks: PerBlock<u32>, mut warps: PerWarp<u32>, mut threads: PerThread<u32, 4>) {
    if let Some(out) = blocks.part().get_mut() {
        *out += 1;
    }
    if let Some(out) = warps.part().get_mut() {
        *out += 1;
    }
    if let Some(out) = threads.array() {
        out.iter_mut().for_each(|out| *out += 1);
    } else {
        threads.part().as_mut_slice().iter_mut().for_each(|out| *out += 1);
    }
}

/// Adds the part's number to all its elements: seven for each warp, and the last part has fewer.
#[kernel]
pub fn warp_parts(mut out: PerWarp<u32, 7>) {
    for mut part in out.parts() {
        let number = part.number() as u32;
        part.iter_mut().for_each(|(_, out)| *out += number);
    }
}

/// Adds `1000 * row + column`, with fewer blocks than rows.
#[kernel(dimensions = 1)]
pub fn block_rows(mut out: RowsPerBlock<u32>) {
    for mut row in out.rows() {
        let number = row.number();
        for (column, out) in row.iter_mut() {
            *out += (1000 * number + column) as u32;
        }
    }
}

/// The same with a row for a warp.
#[kernel(dimensions = 1)]
pub fn warp_rows(mut out: RowsPerWarp<u32>) {
    let mut row = out.row();
    let number = row.number();
    for (column, out) in row.iter_mut() {
        *out += (1000 * number + column) as u32;
    }
}

/// The same with a row for a thread.
#[kernel(dimensions = 1)]
pub fn thread_rows(mut out: RowsPerThread<u32>) {
    let mut row = out.row();
    let number = row.number();
    for (column, out) in row.as_mut_slice().iter_mut().enumerate() {
        *out += (1000 * number + column) as u32;
    }
}

#[ptx::shared]
static TILE: Shared<[f32; 32 * 33]>;

/// Rows and columns exchanged, through a tile in shared memory.
#[kernel(dimensions = 2, launch_bounds(256))]
pub fn transpose_tiles(from: &[f32], width: u32, height: u32, mut to: DisjointTiles<f32, 32, 8, Transposed>) {
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (x, y) = (thread::block_idx_x() * 32 + tx, thread::block_idx_y() * 32 + ty);
    for k in 0..4 {
        if x < width && y + 8 * k < height {
            let value = from[(y + 8 * k) as usize * width as usize + x as usize];
            // SAFETY: an element of its own for each thread and round; nobody reads before the barrier.
            unsafe { TILE.write(((ty + 8 * k) * 33 + tx) as usize, value) };
        }
    }
    sync_threads();
    for k in 0..4 {
        if let Some(to) = to.get_mut(k as usize) {
            // SAFETY: `from` has the transposed element, so it was written before the barrier.
            *to = unsafe { TILE.read((tx * 33 + ty + 8 * k) as usize) };
        }
    }
}

/// A step of the Walsh-Hadamard transform.
#[kernel(dimensions = 1)]
pub fn walsh_step(mut data: DisjointStrided<i32, 2>) {
    if let Some([a, b]) = data.get_mut(thread::index_1d()) {
        (*a, *b) = (*a + *b, *a - *b);
    }
}

/// One step of a chain that depends on its last result, so that a wrong number of rounds shows.
pub fn chain(value: u32, x: u32) -> u32 {
    value.rotate_left(5) ^ x.wrapping_mul(0x9e37_79b9)
}

/// A loop with every hint, each over its own chain.
#[kernel]
pub fn unrolled(x: &[u32], mut out: DisjointSlice<[u32; 5]>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let x = &x[..i.get()];
    let mut chains = [0; 5];
    for &x in x {
        chains[0] = chain(chains[0], x);
    }
    for &x in x.iter().unroll::<3>() {
        chains[1] = chain(chains[1], x);
    }
    for &x in x.iter().unroll_none() {
        chains[2] = chain(chains[2], x);
    }
    for k in (0..8).unroll_full() {
        chains[3] = x.get(k).map_or(chains[3], |x| chain(chains[3], *x));
    }
    let (hint, mut k) = (hint::unroll_loop::<4>(), 0);
    while hint::likely(k < x.len()) {
        hint.round();
        chains[4] = chain(chains[4], x[k]);
        k += 1;
    }
    *out = chains;
}

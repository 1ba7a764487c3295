//! The Mandelbrot set by subdivision (Mariani and Silver): a square whose border has one number of steps has it inside, too.
//! Any other is cut into smaller ones, for which its block launches a kernel.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::children::{ChildGrid, Children};
use ptx::prelude::*;
use ptx::sync::{sync_threads_and, sync_threads_or};

/// Pixels in a row, and rows.
pub const SIZE: u32 = 512;

/// Pixels in a row of the first squares.
pub const FIRST: u32 = 64;

/// Into how many squares a row of a square is cut.
pub const PARTS: u32 = 4;

/// Squares that are smaller are not cut.
pub const SMALLEST: u32 = 8;

/// Threads of a block.
pub const THREADS: u32 = 64;

/// More steps are not tried: the point is in the set.
pub const MOST_STEPS: u32 = 256;

/// A point's steps until it leaves. Without fused operations, so that the CPU has the same bits.
#[ptx::float(fmad = false)]
pub fn steps(x: u32, y: u32) -> u32 {
    let scale = 3.0 / SIZE as f32;
    let (a, b) = (x as f32 * scale - 2.25, y as f32 * scale - 1.5);
    let (mut u, mut v, mut count) = (0.0_f32, 0.0_f32, 0);
    while count < MOST_STEPS && u * u + v * v <= 4.0 {
        (u, v) = (u * u - v * v + a, 2.0 * u * v + b);
        count += 1;
    }
    count
}

/// The pixels of a square's border, each once, of a side of at least two: which one is the `i`th.
pub fn border(i: u32, side: u32) -> (u32, u32) {
    let last = side - 1;
    let (edge, at) = (i / last, i % last);
    match edge {
        0 => (at, 0),
        1 => (last, at),
        2 => (last - at, last),
        _ => (0, last - at),
    }
}

/// Fills squares of `side` pixels, a block each, from pixel (`x`, `y`) on.
#[kernel(child, launch_bounds(THREADS))]
pub fn squares<'grid>(
    #[children] children: Children<'grid>,
    x: u32,
    y: u32,
    side: u32,
    image: AtomicSlice<'grid, u32, Device>,
) {
    let (x, y) = (x + thread::block_idx_x() * side, y + thread::block_idx_y() * side);
    let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let own = |count: u32| (thread..count).step_by(threads as usize);
    let write = |i: u32, value: u32| {
        let at = (y + i / side) * SIZE + x + i % side;
        image[at as usize].store(value, Ordering::Relaxed);
    };

    let corner = steps(x, y);
    let is_same = own(4 * (side - 1)).all(|i| {
        let (i, j) = border(i, side);
        steps(x + i, y + j) == corner
    });
    if sync_threads_and(is_same) {
        own(side * side).for_each(|i| write(i, corner));
        return;
    }
    if side > SMALLEST {
        let part = side / PARTS;
        let grid = ChildGrid::new((PARTS, PARTS), threads);
        let has_failed = thread == 0 && squares::launch(children.fire_and_forget(), grid, x, y, part, image).is_err();
        // There is room for so many launches only. What has none is done here.
        if !sync_threads_or(has_failed) {
            return;
        }
    }
    own(side * side).for_each(|i| write(i, steps(x + i % side, y + i / side)));
}

/// The same on the CPU; counts the squares that were looked at.
pub fn squares_on_host(x: u32, y: u32, side: u32, image: &mut [u32]) -> usize {
    let corner = steps(x, y);
    let is_same = (0..4 * (side - 1)).all(|i| {
        let (i, j) = border(i, side);
        steps(x + i, y + j) == corner
    });
    if !is_same && side > SMALLEST {
        let part = side / PARTS;
        let parts = (0..PARTS * PARTS).map(|i| (x + i % PARTS * part, y + i / PARTS * part));
        return 1 + parts.map(|(x, y)| squares_on_host(x, y, part, image)).sum::<usize>();
    }
    for (x, y) in (0..side * side).map(|i| (x + i % side, y + i / side)) {
        image[(y * SIZE + x) as usize] = if is_same { corner } else { steps(x, y) };
    }
    1
}

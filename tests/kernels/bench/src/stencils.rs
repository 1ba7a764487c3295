//! Stencils: each element from its neighbours; the edge is copied.

use ptx::Disjoint2d;
use ptx::prelude::*;

/// Weights of [`stencil_1d`].
pub const WEIGHTS: [f32; 7] = [0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05];

#[kernel]
pub fn stencil_1d(from: &[f32], mut to: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(to) = to.get_mut(i) else { return };
    let i = i.get();
    let window = i.checked_sub(WEIGHTS.len() / 2).and_then(|first| from.get(first..first + WEIGHTS.len()));
    *to = match window {
        Some(window) => window.iter().zip(WEIGHTS).map(|(x, weight)| x * weight).sum(),
        None => from[i],
    };
}

#[kernel(dimensions = 2)]
pub fn stencil_2d(from: &[f32], mut to: Disjoint2d<f32>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let i = y * width + x;
    *to = if x > 0 && x + 1 < width && y > 0 && y + 1 < height {
        0.5 * from[i] + 0.125 * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width])
    } else {
        from[i]
    };
}

/// In a cube of `side`³ elements, by a one-dimensional launch.
#[kernel]
pub fn stencil_3d(from: &[f32], side: usize, mut to: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let Some(to) = to.get_mut(i) else { return };
    let i = i.get();
    let (x, y, z) = (i % side, i / side % side, i / (side * side));
    let inside = 1..side - 1;
    *to = if inside.contains(&x) && inside.contains(&y) && inside.contains(&z) {
        let (row, plane) = (side, side * side);
        let neighbours = from[i - 1] + from[i + 1] + from[i - row] + from[i + row] + from[i - plane] + from[i + plane];
        0.4 * from[i] + 0.1 * neighbours
    } else {
        from[i]
    };
}

/// Conway's game of life on a torus.
#[kernel(dimensions = 2)]
pub fn life(from: &[u8], mut to: Disjoint2d<u8>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let columns = [if x == 0 { width - 1 } else { x - 1 }, x, if x + 1 == width { 0 } else { x + 1 }];
    let rows = [if y == 0 { height - 1 } else { y - 1 }, y, if y + 1 == height { 0 } else { y + 1 }];
    let mut alive = 0;
    for row in rows {
        for column in columns {
            alive += from[row * width + column];
        }
    }
    let me = from[y * width + x];
    *to = u8::from(alive == 3 || (alive == 4 && me == 1));
}

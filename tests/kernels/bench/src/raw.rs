//! Some of the kernels once more with raw pointers, as CUDA C++ has them; their twins are those of the safe kernels.
//!
//! A pointer and a length are what a slice is at the boundary, so that both sides take the same arguments. Indices have 32
//! bits, as programmers of CUDA C++ have them.
#![expect(clippy::too_many_arguments, reason = "every slice is two")]

use ptx::Shared;
use ptx::prelude::*;
use ptx::vec::Float4;

use crate::particles::SOFTENING;
use crate::streams::{ROWS, TILE};

#[inline]
fn index_1d() -> u32 {
    thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x()
}

#[inline]
fn index_2d() -> (u32, u32) {
    (index_1d(), thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y())
}

#[kernel]
pub unsafe fn copy_raw(x: *const f32, _x_len: usize, y: *mut f32, y_len: usize) {
    let i = index_1d();
    if i < y_len as u32 {
        // SAFETY: in bounds, and this thread's own.
        unsafe { *y.add(i as usize) = *x.add(i as usize) };
    }
}

#[kernel]
pub unsafe fn saxpy_raw(a: f32, x: *const f32, _x_len: usize, y: *mut f32, y_len: usize) {
    let i = index_1d();
    if i < y_len as u32 {
        // SAFETY: in bounds, and this thread's own.
        unsafe { *y.add(i as usize) += a * *x.add(i as usize) };
    }
}

#[ptx::shared]
static TRANSPOSED: Shared<[f32; TILE * (TILE + 1)]>;

#[kernel]
pub unsafe fn transpose_raw(
    from: *const f32,
    _from_len: usize,
    width: u32,
    height: u32,
    to: *mut f32,
    _to_extents: usize,
) {
    let tile = TRANSPOSED.as_ptr().cast::<f32>();
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * TILE as u32, thread::block_idx_y() * TILE as u32);
    for step in (0..TILE as u32).step_by(ROWS) {
        let row = ty + step;
        let (x, y) = (left + tx, top + row);
        if x < width && y < height {
            // SAFETY: in bounds; no other thread of the block has this row and column.
            unsafe { *tile.add((row * (TILE as u32 + 1) + tx) as usize) = *from.add((y * width + x) as usize) };
        }
    }
    sync_threads();
    for step in (0..TILE as u32).step_by(ROWS) {
        let row = ty + step;
        let (x, y) = (top + tx, left + row);
        if x < height && y < width {
            // SAFETY: in bounds; the element was written before the barrier.
            unsafe { *to.add((y * height + x) as usize) = *tile.add((tx * (TILE as u32 + 1) + row) as usize) };
        }
    }
}

/// Threads of a block of [`reduce_raw`].
const THREADS: u32 = 256;

#[ptx::shared]
static PARTIAL: Shared<[f32; THREADS as usize]>;

#[kernel]
pub unsafe fn reduce_raw(x: *const f32, x_len: usize, sums: *mut f32, _sums_len: usize) {
    let partial = PARTIAL.as_ptr().cast::<f32>();
    let t = thread::thread_idx_x();
    let stride = thread::grid_dim_x() * thread::block_dim_x();
    let mut sum = 0.0;
    let mut i = index_1d();
    while i < x_len as u32 {
        // SAFETY: in bounds.
        sum += unsafe { *x.add(i as usize) };
        i += stride;
    }
    // SAFETY: each thread writes its own element, and reads others after a barrier.
    unsafe { *partial.add(t as usize) = sum };
    sync_threads();
    let mut half = THREADS / 2;
    while half > 0 {
        if t < half {
            // SAFETY: in this round the upper half is read only.
            unsafe { *partial.add(t as usize) += *partial.add((t + half) as usize) };
        }
        sync_threads();
        half /= 2;
    }
    if t == 0 {
        // SAFETY: written before the last barrier; one thread of each block writes its element.
        unsafe { *sums.add(thread::block_idx_x() as usize) = *partial };
    }
}

#[kernel]
pub unsafe fn stencil_3d_raw(from: *const f32, _from_len: usize, side: usize, to: *mut f32, to_len: usize) {
    let (i, side) = (index_1d(), side as u32);
    if i >= to_len as u32 {
        return;
    }
    let (x, y, z) = (i % side, i / side % side, i / (side * side));
    // SAFETY: in bounds: the cube has `to_len` elements, and inside of it there are all neighbours.
    let at = |index: u32| unsafe { *from.add(index as usize) };
    let result = if x >= 1 && x < side - 1 && y >= 1 && y < side - 1 && z >= 1 && z < side - 1 {
        let (row, plane) = (side, side * side);
        let neighbours = at(i - 1) + at(i + 1) + at(i - row) + at(i + row) + at(i - plane) + at(i + plane);
        0.4 * at(i) + 0.1 * neighbours
    } else {
        at(i)
    };
    // SAFETY: in bounds, and this thread's own.
    unsafe { *to.add(i as usize) = result };
}

#[kernel]
pub unsafe fn matmul_raw(
    a: *const f32,
    _a_len: usize,
    b: *const f32,
    _b_len: usize,
    n: usize,
    c: *mut f32,
    _c_extents: usize,
) {
    let ((column, row), n) = (index_2d(), n as u32);
    if column >= n || row >= n {
        return;
    }
    let mut sum = 0.0;
    for k in 0..n {
        // SAFETY: in bounds: the matrices have n² elements.
        sum += unsafe { *a.add((row * n + k) as usize) * *b.add((k * n + column) as usize) };
    }
    // SAFETY: in bounds, and this thread's own.
    unsafe { *c.add((row * n + column) as usize) = sum };
}

#[kernel]
pub unsafe fn dgemm_raw(
    n: usize,
    alpha: f64,
    a: *const f64,
    _a_len: usize,
    b: *const f64,
    _b_len: usize,
    beta: f64,
    c: *mut f64,
    _c_extents: usize,
) {
    let ((column, row), n) = (index_2d(), n as u32);
    if column >= n || row >= n {
        return;
    }
    let mut sum = 0.0;
    for k in 0..n {
        // SAFETY: in bounds: the matrices have n² elements.
        sum += unsafe { *a.add((row * n + k) as usize) * *b.add((k * n + column) as usize) };
    }
    // SAFETY: in bounds, and this thread's own.
    unsafe {
        let c = c.add((row * n + column) as usize);
        *c = alpha * sum + beta * *c;
    }
}

#[kernel]
pub unsafe fn nbody_raw(
    bodies: *const Float4,
    bodies_len: usize,
    accelerations: *mut Float4,
    accelerations_len: usize,
) {
    let i = index_1d();
    if i >= accelerations_len as u32 {
        return;
    }
    // SAFETY: in bounds: there are as many bodies as accelerations.
    let me = unsafe { *bodies.add(i as usize) };
    let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
    for k in 0..bodies_len as u32 {
        // SAFETY: in bounds.
        let other = unsafe { *bodies.add(k as usize) };
        let (dx, dy, dz) = (other.x - me.x, other.y - me.y, other.z - me.z);
        let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).rsqrt();
        let force = other.w * inverse * inverse * inverse;
        ax += force * dx;
        ay += force * dy;
        az += force * dz;
    }
    // SAFETY: in bounds, and this thread's own.
    unsafe { *accelerations.add(i as usize) = Float4::new(ax, ay, az, 0.0) };
}

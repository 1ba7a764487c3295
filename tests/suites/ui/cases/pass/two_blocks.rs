//! Blocks of 1,024 threads get no more registers than two of them have at once.
//@arch: sm_90
#![no_std]
use ptx::Disjoint2d;
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedTile};

const SIDE: usize = 32;

// CHECK-LABEL: .visible .entry product(
// CHECK: .maxntid 1024
// CHECK: .maxnreg 32
#[kernel(dimensions = 2, launch_bounds(1024))]
pub fn product(
    a: &[f32],
    b: &[f32],
    depth: usize,
    mut c: Disjoint2d<f32>,
    #[shared] mut of_a: SharedTile<Array2d<f32, SIDE, SIDE>>,
    #[shared] mut of_b: SharedTile<Array2d<f32, SIDE, SIDE>>,
) {
    let (at, width) = (thread::index_2d(), c.width());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let mut sum = 0.0;
    for tile in 0..depth / SIDE {
        of_a.own().set(a[at.y() * depth + tile * SIDE + x]);
        of_b.own().set(b[(tile * SIDE + y) * width + at.x()]);
        let (row_of, column_of) = (of_a.publish(), of_b.publish());
        for (a, row) in row_of[y].iter().zip(column_of.iter()) {
            sum += a * row[x];
        }
        (of_a, of_b) = (row_of.reclaim(), column_of.reclaim());
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

// CHECK-LABEL: .visible .entry smaller_blocks(
// CHECK: .maxntid 512
// CHECK-NOT: .maxnreg
// CHECK: {
#[kernel(launch_bounds(512))]
pub fn smaller_blocks(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

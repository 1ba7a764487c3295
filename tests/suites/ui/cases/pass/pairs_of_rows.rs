//! Three rows of a slice beside three parts of another stay in registers; of a row of pairs that a warp shares, each lane
//! takes eight at a time.
#![no_std]
use ptx::cooperative::{self, WarpGroup as _};
use ptx::prelude::*;
use ptx::{Disjoint2d, PerWarp};

// CHECK-LABEL: .visible .entry nine(
// CHECK-NOT: .local
// CHECK: ret;
// SASS-LABEL: .text.nine:
// SASS-NOT: LDL
// SASS: EXIT
#[kernel(dimensions = 2)]
pub fn nine(from: &[f32], weights: &[f32], mut to: Disjoint2d<f32>) {
    let (width, height) = (to.width(), to.height());
    let at = thread::index_2d();
    let Some(to) = to.get_mut(at) else { return };
    let (x, y) = (at.x(), at.y());
    let columns = [x.saturating_sub(1), x, (x + 1).min(width - 1)];
    let rows = [y.saturating_sub(1), y, (y + 1).min(height - 1)].map(|y| &from[y * width..][..width]);
    let mut sum = 0.0;
    for (row, weights) in rows.iter().zip(weights.chunks_exact(3)) {
        for (column, weight) in columns.iter().zip(weights) {
            sum += weight * row[*column];
        }
    }
    *to = sum;
}

// A minimum says where the row begins for a lane, and none where it goes on.
// CHECK-LABEL: .visible .entry products(
// CHECK: min.u64
// CHECK-NOT: min.u64
// CHECK: +-512];
// CHECK: +384];
// CHECK: shfl.sync.bfly.b32
#[kernel(dimensions = 1)]
pub fn products(ends: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: PerWarp<f32>) {
    let mut y = y.part();
    if y.is_empty() {
        return;
    }
    let row = ends[y.number()] as usize..ends[y.number() + 1] as usize;
    let (columns, values) = (&columns[row.clone()], &values[row]);
    let own = columns.iter().zip(values).skip(thread::lane_id() as usize).step_by(32);
    let sum: f32 = own.map(|(column, value)| value * x[*column as usize]).sum();
    let sum = cooperative::tile::<32>().reduce(sum, |a, b| a + b);
    if let Some(y) = y.get_mut() {
        *y = sum;
    }
}

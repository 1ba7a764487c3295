//! A loop over an array of shared memory knows how many elements there are, wherever the array lies in a tile.
#![no_std]
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedTile};

type Square = Array2d<f32, 16, 16>;

// CHECK-LABEL: .visible .entry column_sums(
// CHECK: {{bar|barrier}}.sync
// CHECK-NOT: cvta.shared
// CHECK-NOT: setp.eq.s64
// CHECK-COUNT-16: ld.shared
// CHECK: st.global
#[kernel(dimensions = 1)]
pub fn column_sums(
    x: &[f32],
    y: &[f32],
    mut sums: DisjointSlice<f32>,
    #[shared] mut tiles: SharedTile<(Square, Square)>,
) {
    let (mut rows, mut columns) = tiles.own();
    rows.for_each(|row, column, element| *element = x[row * 16 + column]);
    columns.for_each(|row, column, element| *element = y[row * 16 + column]);
    let tiles = tiles.publish();
    let (rows, columns) = &*tiles;
    let t = thread::thread_idx_x() as usize % 16;
    if let Some(sum) = sums.get_mut(thread::index_1d()) {
        *sum = rows[t].iter().zip(columns.iter()).map(|(a, row)| a * row[t]).sum();
    }
}

//! Whether the block has the size that a kernel wants, and whether all elements are in the slice, is one branch.
#![no_std]
use ptx::prelude::*;
use ptx::shared::{Array2d, SharedTile};
use ptx::{Dim3, DisjointTiles, Transposed};

// CHECK-LABEL: .visible .entry a_transposition(
// CHECK-NOT: bra
// CHECK: %ntid.x;
// CHECK-NOT: bra
// CHECK: setp.lt.u64
// CHECK-NOT: bra
// CHECK: and.pred
// CHECK: bra
// CHECK: ld.global.nc.b32
#[kernel(dimensions = 2)]
pub fn a_transposition(
    from: &[f32],
    width: u32,
    height: u32,
    mut to: DisjointTiles<f32, 32, 8, Transposed>,
    #[shared] mut tile: SharedTile<Array2d<f32, 32, 32, 1>>,
) {
    assert!(thread::block_dim() == Dim3::new(32, 8, 1), "blocks have 32 by 8 threads");
    let (tx, ty) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * 32, thread::block_idx_y() * 32);
    tile.own().for_each(|row, column, element| {
        let (x, y) = (left + column as u32, top + row as u32);
        if x < width && y < height {
            *element = from[y as usize * width as usize + x as usize];
        }
    });
    let tile = tile.publish();
    for k in 0..4 {
        if let Some(to) = to.get_mut(k) {
            *to = tile[tx as usize][ty as usize + k * 8];
        }
    }
}

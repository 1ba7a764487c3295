//! A tile of several warps: one of the block's barriers with the tile's count for each operation, and memory by turns.
#![no_std]
use ptx::cooperative::{BlockTile, Group as _};
use ptx::prelude::*;

// The tile's number is added to its object's first barrier.
// CHECK-LABEL: .visible .entry a_sum(
// CHECK: .shared .align {{[0-9]+}} .b8 {{.*}}tile[1024];
// CHECK: shr.u32 [[TILE:%r[0-9]+]], %r{{[0-9]+}}, 6;
// CHECK: add.s32 [[ID:%r[0-9]+]], [[TILE]], 1;
// CHECK: st.relaxed.cta.shared.b32
// CHECK: barrier.sync [[ID]], 64;
// CHECK: ld.relaxed.cta.shared.b32
// CHECK: ld.relaxed.cta.shared.b32
// CHECK-NOT: barrier
// CHECK: ret;
#[kernel(launch_bounds(256))]
pub fn a_sum(mut x: DisjointSlice<f32>, #[shared] tile: BlockTile<64, 256>) {
    let i = thread::index_1d();
    let sum = tile.reduce_add(x.get_mut(i).map_or(0.0, |x| *x));
    if let Some(x) = x.get_mut(i) {
        *x /= sum;
    }
}

// Votes are the barrier's own, and the object behind the first tiles' four barriers begins with the fifth.
// CHECK-LABEL: .visible .entry b_votes(
// CHECK: barrier.red.popc.u32 %r{{[0-9]+}}, %r{{[0-9]+}}, 64, %p
// CHECK: barrier.red.and.pred %p{{[0-9]+}}, {{.*}}, 128, %p
// CHECK: barrier.red.or.pred %p{{[0-9]+}}, {{.*}}, 128, %p
// CHECK: ret;
#[kernel(launch_bounds(256))]
pub fn b_votes(
    mut x: DisjointSlice<u32>,
    #[shared] pairs: BlockTile<64, 256>,
    #[shared] halves: BlockTile<128, 256>,
) {
    let i = thread::index_1d();
    let own = x.get_mut(i).map_or(0, |x| *x);
    let odd = pairs.count_of(own % 2 != 0);
    let both = halves.all(own > 3) && halves.any(own > 9);
    pairs.sync();
    if let Some(x) = x.get_mut(i) {
        *x = if both { odd } else { 0 };
    }
}

//! A scan of a block: within warps by shuffles, then one barrier, and the totals of the warps.
#![no_std]
use ptx::block::Scan;
use ptx::RowsPerBlock;
use ptx::prelude::*;

// Those that come before a warp are one sum over its lanes, and so is the total.
// CHECK-LABEL: .visible .entry a_sums(
// CHECK: .shared .align 16 .b8 {{.*}}block[256];
// CHECK-COUNT-5: shfl.sync.up.b32
// CHECK: bar.sync 1;
// CHECK-COUNT-2: redux.sync.add.s32
// CHECK-NOT: ld.shared
// CHECK-NOT: bar.sync
// CHECK-NOT: shfl
// CHECK: ret;
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn a_sums(mut x: DisjointSlice<u32>, #[shared] mut block: Scan<u32, 256>) {
    let i = thread::index_1d();
    let sum = block.inclusive_sum(x.get_mut(i).map_or(0, |x| *x));
    if let Some(x) = x.get_mut(i) {
        *x = sum;
    }
}

// What any operator makes of the warps is computed one after the other.
// CHECK-LABEL: .visible .entry b_largest(
// CHECK: .shared .align 16 .b8 {{.*}}block[256];
// CHECK-COUNT-5: shfl.sync.up.b32
// CHECK: bar.sync 1;
// CHECK: ld.shared.v4.b32
// CHECK-NOT: bar.sync
// CHECK-NOT: shfl
// CHECK: ret;
#[kernel(dimensions = 1, launch_bounds(128))]
pub fn b_largest(mut x: DisjointSlice<f32>, #[shared] mut block: Scan<f32, 128>) {
    let i = thread::index_1d();
    let most = block.inclusive(x.get_mut(i).map_or(0.0, |x| *x), f32::max);
    if let Some(x) = x.get_mut(i) {
        *x = most;
    }
}

// Where there are more than eight warps, each scans them all.
// CHECK-LABEL: .visible .entry c_many(
// CHECK: .shared .align 16 .b8 {{.*}}block[256];
// CHECK-COUNT-5: shfl.sync.up.b32
// CHECK: bar.sync 1;
// CHECK: ld.shared.b32
// CHECK-COUNT-4: shfl.sync.up.b32
// CHECK-COUNT-2: shfl.sync.idx.b32
// CHECK-NOT: bar.sync
// CHECK: ret;
#[kernel(dimensions = 1, launch_bounds(512))]
pub fn c_many(mut x: DisjointSlice<f32>, #[shared] mut block: Scan<f32, 512>) {
    let i = thread::index_1d();
    let sum = block.inclusive_sum(x.get_mut(i).map_or(0.0, |x| *x));
    if let Some(x) = x.get_mut(i) {
        *x = sum;
    }
}

// In rounds, of which two stand one behind the other, each with its half of the memory.
// CHECK-LABEL: .visible .entry d_rounds(
// CHECK: .shared .align 16 .b8 {{.*}}block[256];
// CHECK: sync 1;
// CHECK: ld.shared.v4.b32 {{.*}}block];
// CHECK: sync 1;
// CHECK: ld.shared.v4.b32 {{.*}}block+128];
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn d_rounds(pixels: &[u8], mut sums: RowsPerBlock<u32>, #[shared] mut block: Scan<u32, 256>) {
    let mut row = sums.row();
    let start = row.start();
    let mut carry = 0;
    for (column, sum) in row.iter_mut() {
        let pixel = u32::from(pixels[start + column]);
        *sum = pixel + block.exclusive_from(&mut carry, pixel, |a, b| a + b);
    }
}

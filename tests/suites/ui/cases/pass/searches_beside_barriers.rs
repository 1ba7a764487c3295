//! A search for each element, in a kernel with barriers: the copy for small slices searches with 32 bits. The other one
//! does not ask behind the search whether it found the first element.
#![no_std]
use ptx::atomic::{AtomicSlice, Device, Ordering};
use ptx::block::Histogram;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry count_ranges(
// CHECK: shr.u32 [[HALF:%r[0-9]+]], [[SIZE:%r[0-9]+]], 1;
// CHECK: add.s32 [[MID:%r[0-9]+]], {{.*}}[[HALF]]
// CHECK: mul.wide.s32 %rd{{[0-9]+}}, [[MID]], 4;
// CHECK: ld.global.nc.b32
// CHECK: sub.s32 [[SIZE]], [[SIZE]], [[HALF]];
// The other copy.
// CHECK: shr.u64 [[HALF:%rd[0-9]+]], %rd{{[0-9]+}}, 1;
// CHECK: setp.gt.u64 {{.*}}, 1;
// CHECK-NOT: setp.ne.s64
// CHECK: bra.uni
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn count_ranges(
    x: &[f32],
    edges: &[f32],
    counts: AtomicSlice<u32, Device>,
    #[shared] mut bins: Histogram<64, 256>,
) {
    bins.clear();
    for i in thread::grid_stride(x.len()) {
        bins.add(edges.partition_point(|edge| *edge <= x[i]));
    }
    for (bin, count) in bins.counts() {
        counts[bin].fetch_add(count, Ordering::Relaxed);
    }
}

//! Addresses that are a step of the grid apart are computed one from the other, where a loop is unrolled.
#![no_std]
use ptx::prelude::*;

// The windows of a text that are a step apart are counted, and four of them compared in a round.
// CHECK-LABEL: .visible .entry matching(
// CHECK: div.u64
// CHECK-COUNT-4: selp.b32
// CHECK: add.s64 {{.*}}, 4;
// CHECK: bra
#[kernel(dimensions = 1)]
pub fn matching(text: &[u8], pattern: &[u8], mut counts: DisjointSlice<u32>) {
    let Some(pattern) = pattern.first_chunk::<8>() else { return };
    let own = thread::index_1d();
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let windows = text.windows(8).skip(own.get()).step_by(threads);
    let count = windows.filter(|window| *window == pattern).count();
    if let Some(to) = counts.get_mut(own) {
        *to = count as u32;
    }
}

// CHECK-LABEL: .visible .entry product(
// CHECK: .pragma "nounroll";
// CHECK: mul.wide.u32 [[STEP:%rd[0-9]+]], %r{{[0-9]+}}, 4;
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[FIRST:%rd[0-9]+]]];
// CHECK: add.s64 [[SECOND:%rd[0-9]+]], [[FIRST]], [[STEP]];
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[SECOND]]];
// CHECK: add.s64 [[THIRD:%rd[0-9]+]], [[SECOND]], [[STEP]];
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[THIRD]]];
#[kernel]
pub fn product(x: &[f32], y: &[f32], mut sums: DisjointSlice<f32>) {
    let sum: f32 = thread::grid_stride(x.len().min(y.len())).map(|i| x[i] * y[i]).sum();
    if let Some(own) = sums.get_mut(thread::index_1d()) {
        *own = sum;
    }
}

// The first thread skips nothing, and asks what the others ask.
// CHECK-LABEL: .visible .entry skipped(
// CHECK: mov.b32 %r{{[0-9]+}}, 0fFF800000;
// CHECK-NOT: setp.eq
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[FIRST:%rd[0-9]+]]];
// CHECK-NEXT: ld.global.nc.b32 {{.*}}, {{\[}}[[FIRST]]+1024];
#[kernel]
pub fn skipped(row: &[f32], mut largest: DisjointSlice<f32>) {
    let own = row.iter().copied().skip(thread::thread_idx_x() as usize).step_by(256).fold(f32::NEG_INFINITY, f32::max);
    if let Some(to) = largest.get_mut(thread::index_1d()) {
        *to = own;
    }
}

// The width of a matrix has 64 bits, and is asked for before the loop.
// CHECK-LABEL: .visible .entry transformed(
// CHECK: setp.lt.u64 {{.*}}, 4294967296;
// CHECK: mul.wide.u32 [[STEP:%rd[0-9]+]], %r{{[0-9]+}}, 8;
// CHECK: ld.global.nc.b64 {{.*}}, {{\[}}[[FIRST:%rd[0-9]+]]];
// CHECK: add.s64 [[SECOND:%rd[0-9]+]], [[FIRST]], [[STEP]];
// CHECK: ld.global.nc.b64 {{.*}}, {{\[}}[[SECOND]]];
#[kernel]
pub fn transformed(a: &[f64], x: &[f64], mut y: DisjointSlice<f64>) {
    let rows = y.len();
    let row = thread::index_1d();
    if let Some(y) = y.get_mut(row) {
        *y = x.iter().enumerate().map(|(column, x)| a[column * rows + row.get()] * x).sum();
    }
}

// What `zip` skips is passed over at once, and the rounds are counted.
// CHECK-LABEL: .visible .entry zipped(
// CHECK: div.u64
// CHECK-COUNT-5: fma.rn.f32
#[kernel]
pub fn zipped(x: &[f32], y: &[f32], mut sums: DisjointSlice<f32>) {
    let own = thread::index_1d();
    let threads = (thread::grid_dim().x * thread::block_dim().x) as usize;
    let mut sum = 0.0;
    for (x, y) in x.iter().zip(y).skip(own.get()).step_by(threads) {
        sum += x * y;
    }
    if let Some(sums) = sums.get_mut(own) {
        *sums = sum;
    }
}

// What `zip` skips is passed over in a loop of its own, which is gone before this one is unrolled.
// CHECK-LABEL: .visible .entry zipped_in_warp(
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[FIRST:%rd[0-9]+]]+128];
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[FIRST]]+256];
// CHECK: ld.global.nc.b32 {{.*}}, {{\[}}[[FIRST]]+384];
#[kernel]
pub fn zipped_in_warp(x: &[f32], y: &[f32], mut sums: DisjointSlice<f32>) {
    let sum = x.iter().zip(y).skip(thread::lane_id() as usize).step_by(32).map(|(x, y)| x * y).sum::<f32>();
    if let Some(to) = sums.get_mut(thread::index_1d()) {
        *to = sum;
    }
}

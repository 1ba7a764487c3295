//! A row that a warp shares: where it has all 32 threads, four elements are loaded, 32 further each, before one is divided.
#![no_std]
use ptx::RowsPerWarp;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK: +-128];
// CHECK-NEXT: ld.global.nc.b32
// CHECK-NEXT: +128];
#[kernel(dimensions = 1)]
pub fn case(sums: &[f32], x: &[f32], mut out: RowsPerWarp<f32>) {
    let mut out = out.row();
    let Some(sum) = sums.get(out.number()) else { return };
    let row = &x[out.start()..][..out.len()];
    for (column, out) in out.iter_mut() {
        *out = row[column] / sum;
    }
}

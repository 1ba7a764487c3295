//! A row for each block, beside a slice of as many elements: the slice's index is not checked, and the rounds are counted by a
//! division of 32 bits.
#![no_std]
use ptx::RowsPerBlock;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry doubled(
// CHECK-NOT: div.u64
// CHECK: div.u32
// CHECK-NOT: div.u64
// CHECK: ld.global.nc.b32
// CHECK-NOT: setp.{{(lt|ge|le|gt).u64}}
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn doubled(x: &[f32], mut y: RowsPerBlock<f32>) {
    let width = y.width();
    let mut y = y.row();
    let x = &x[y.start()..][..width];
    for (i, y) in y.iter_mut() {
        *y = 2.0 * x[i];
    }
}

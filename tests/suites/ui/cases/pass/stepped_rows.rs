//! A loop by a constant step takes four rounds at a time, and ptxas may take several of these at once.
#![no_std]
use ptx::prelude::*;
use ptx::PerThread;

// The rounds are counted in 32 bits.
// CHECK-LABEL: .visible .entry sums(
// CHECK: shr.u32 {{.*}}, 8;
// CHECK-NOT: .pragma
// CHECK-COUNT-4: ld.global.nc
// CHECK: add.s32 {{.*}}, -4;
// CHECK: .pragma "nounroll"
// CHECK: ld.global.nc
// CHECK: st.global
#[kernel(dimensions = 1)]
pub fn sums(x: &[f32], width: u32, mut sums: PerThread<f32>) {
    let row = &x[thread::block_idx_x() as usize * width as usize..][..width as usize];
    let mut sum = 0.0;
    let mut i = thread::thread_idx_x() as usize;
    while i < row.len() {
        sum += row[i];
        i += 256;
    }
    if let Some(out) = sums.part().get_mut() {
        *out = sum;
    }
}

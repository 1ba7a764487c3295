//! Loops in which each thread of a warp takes its element of every chunk of a row: four of them at a time are loaded.
#![no_std]
use ptx::RowsPerWarp;
use ptx::cooperative::{self, WarpGroup as _};
use ptx::prelude::*;

// Chunks are whole but for the last one, and of a whole one nothing is asked.
// CHECK-LABEL: .visible .entry a_sum(
// CHECK: ld.global.nc.b32 %r{{[0-9]+}}, [%rd[[P:[0-9]+]]];
// CHECK-NEXT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd[[P]]+128];
// CHECK-NEXT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd[[P]]+256];
// CHECK-NEXT: ld.global.nc.b32 %r{{[0-9]+}}, [%rd[[P]]+384];
// CHECK-NOT: nounroll
// CHECK: @%p{{[0-9]+}} bra
#[kernel]
pub fn a_sum(x: &[f32], mut sums: RowsPerWarp<f32>) {
    let lane = thread::lane_id() as usize;
    let sum = x.chunks(32).filter_map(|chunk| chunk.get(lane)).sum::<f32>();
    let sum = cooperative::tile::<32>().reduce(sum, |a, b| a + b);
    if let Some(to) = sums.row().get_mut() {
        *to = sum;
    }
}

// The next element of two iterators is found together, and nothing is searched for.
// CHECK-LABEL: .visible .entry b_scaled(
// CHECK: st.global.b32 [%rd[[P:[0-9]+]]], %r
// CHECK-NOT: bra
// CHECK: st.global.b32 [%rd[[P]]+128], %r
// CHECK-NOT: bra
// CHECK: st.global.b32 [%rd[[P]]+256], %r
// CHECK-NOT: bra
// CHECK: st.global.b32 [%rd[[P]]+384], %r
// CHECK-NOT: nounroll
// CHECK: @%p{{[0-9]+}} bra
#[kernel]
pub fn b_scaled(x: &[f32], scale: &[f32], mut result: RowsPerWarp<f32>) {
    let lane = thread::lane_id() as usize;
    let mut result = result.row();
    let row = &x[result.start()..][..result.len()];
    for ((column, result), x) in result.iter_mut().zip(row.chunks(32).filter_map(|chunk| chunk.get(lane))) {
        *result = x * scale[column];
    }
}

//! The elements of an array that are a thread's own are as many for each thread of a block whose size is known and
//! divides the array's: they are written one behind the other, and neither of two buffers is asked whether it is null.
//@ arch: sm_90
#![no_std]
use ptx::Dim3;
use ptx::prelude::*;
use ptx::shared::{SharedBuffers, SharedTile};

// A thread of 128 has two elements of 256.
// CHECK-LABEL: .visible .entry a_rounds(
// CHECK-NOT: setp.{{.*}}64
// CHECK: st.shared.b32 {{.}}[[OWN:%rd[0-9]+]]], {{.*}};
// CHECK-NOT: setp
// CHECK: st.shared.b32 {{.}}[[OWN]]+512], {{.*}};
// CHECK-NEXT: bar.sync 1;
// CHECK: st.global.b32
#[kernel(dimensions = 1, launch_bounds(128))]
pub fn a_rounds(rounds: u32, mut out: DisjointSlice<u32>, #[shared] mut cells: SharedBuffers<[u32; 256]>) {
    assert!(thread::block_dim() == Dim3::new(128, 1, 1));
    let t = thread::thread_idx_x() as usize;
    for _ in 0..rounds {
        let sum = cells[2 * t].wrapping_add(cells[2 * t + 1]);
        for (i, own) in cells.own().iter_mut() {
            *own = if i == t { sum } else { sum ^ 1 };
        }
        cells.swap();
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = cells[255 - t];
    }
}

// Four of 512, each if there is one to load.
// CHECK-LABEL: .visible .entry b_tile(
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: bar.sync
#[kernel(dimensions = 1, launch_bounds(128))]
pub fn b_tile(x: &[f32], mut out: DisjointSlice<f32>, #[shared] mut tile: SharedTile<[f32; 512]>) {
    assert!(thread::block_dim_x() == 128);
    let t = thread::thread_idx_x() as usize;
    for (i, own) in tile.own().iter_mut() {
        *own = x.get(i * 3).copied().unwrap_or(0.0);
    }
    let tile = tile.publish();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = tile[511 - t];
    }
}

// The same by hand.
// CHECK-LABEL: .visible .entry c_by_hand(
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: st.global.b32
#[kernel(dimensions = 1, launch_bounds(128))]
pub fn c_by_hand(x: &[f32; 512], mut out: DisjointSlice<f32>) {
    assert!(thread::block_dim_x() == 128);
    let (mut sum, mut i) = (0.0, thread::thread_idx_x() as usize);
    while i < 512 {
        sum += x[i];
        i += 128;
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum;
    }
}

// Some threads have one fewer: the loop stays.
// CHECK-LABEL: .visible .entry d_odd(
// CHECK: setp.{{.*}}, {{37[12]|499|500}};
#[kernel(dimensions = 1, launch_bounds(128))]
pub fn d_odd(mut out: DisjointSlice<u32>, #[shared] mut tile: SharedTile<[u32; 500]>) {
    assert!(thread::block_dim_x() == 128);
    let t = thread::thread_idx_x() as usize;
    for (i, own) in tile.own().iter_mut() {
        *own = (i as u32).wrapping_mul(0x9e37_79b9);
    }
    let tile = tile.publish();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = tile[t ^ 1];
    }
}

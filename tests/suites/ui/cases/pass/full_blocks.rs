//! What is known where a block has as many threads as it may have, and rounds that wait together for quotients.
#![no_std]
use ptx::prelude::*;
use ptx::shared::SharedBuffers;
use ptx::{PerBlock, RowsPerBlock};

// A full block has a copy of the kernel: it asks for nothing in its four steps, which have no loop.
// CHECK-LABEL: .visible .entry a_steps(
// CHECK: mov.u32 %r{{[0-9]+}}, %ntid.x;
// CHECK-NEXT: setp.eq.s32 %p{{[0-9]+}}, %r{{[0-9]+}}, 64;
// CHECK: bar.sync
// CHECK-NOT: bra
// CHECK: bar.sync
// CHECK-NOT: bra
// CHECK: bar.sync
// CHECK-NOT: bra
// CHECK: bar.sync
// CHECK-NOT: bra
// CHECK: bar.sync
// CHECK: ret;
#[kernel(dimensions = 1, launch_bounds(64))]
pub fn a_steps(x: &[f32], mut y: PerBlock<f32, 128>, #[shared] mut data: SharedBuffers<[f32; 128]>) {
    let mut part = y.part();
    let x = &x[part.start()..][..128];
    data.own().fill(|e| x[e]);
    data.swap();
    let t = thread::thread_idx_x() as usize;
    for _ in 0..4 {
        let (mut back, front) = data.both();
        let [even, odd] = [front[2 * t], front[2 * t + 1]];
        back.fill(|e| if e < 64 { even + odd } else { even - odd });
        data.swap();
    }
    for (e, y) in part.iter_mut() {
        *y = data[e];
    }
}

// Four elements are under way before the first quotient is computed.
// CHECK-LABEL: .visible .entry b_quotients(
// CHECK: div.rn.f32
// CHECK: .pragma "nounroll";
// CHECK-NOT: div.rn.f32
// CHECK-COUNT-4: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-4: div.rn.f32
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn b_quotients(x: &[f32], by: f32, mut y: RowsPerBlock<f32>) {
    let mut row = y.row();
    let x = &x[row.start()..][..row.len()];
    for (column, y) in row.iter_mut() {
        *y = (x[column] - by).exp() / by;
    }
}

//! Two buffers that change places in each round are where they are in two rounds that stand one behind the other, and what
//! such a loop counts has 32 bits.
//@ arch: sm_90
#![no_std]
use ptx::prelude::*;
use ptx::shared::SharedBuffers;

// CHECK-LABEL: .visible .entry a_waves(
// CHECK: st.shared.b32 {{.}}[[OWN:%rd[0-9]+]]], {{.*}};
// CHECK-NEXT: bar.sync 1;
// CHECK-NOT: setp.{{.*}}64
// CHECK: st.shared.b32 {{.}}[[OWN]]+1024], {{.*}};
// CHECK-NEXT: bar.sync 1;
// CHECK: setp.eq.s32 {{.*}}, 510;
// CHECK-NOT: bar.sync
// CHECK: st.global.b32
#[kernel(dimensions = 1, launch_bounds(256))]
pub fn a_waves(weights: &[i32; 256], mut best: DisjointSlice<i32>, #[shared] mut cells: SharedBuffers<[i32; 256]>) {
    let t = thread::thread_idx_x() as usize;
    let (mut own, mut most) = (0, 0);
    for step in 0..511_usize {
        let above = if t > 0 { cells[t - 1] } else { 0 };
        if let Some(weight) = step.checked_sub(t).and_then(|column| weights.get(column)) {
            own = above.max(own) + weight;
            most = own.max(most);
        }
        cells.own().set(own);
        cells.swap();
    }
    if let Some(best) = best.get_mut(thread::index_1d()) {
        *best = most;
    }
}

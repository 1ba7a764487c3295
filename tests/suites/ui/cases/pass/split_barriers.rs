//! Barriers in shared memory: made once by thread 0, then an arrival and a wait, by `test_wait` before sm_90 and `try_wait`
//! from then on. Threads that wait look for panics now and then, and end if there is one.
//@ revisions: ampere hopper
//@[ampere] arch: sm_80
//@[hopper] arch: sm_90
//@ link-arg: --after-panic=exit
#![no_std]
use ptx::prelude::*;
use ptx::shared::{SplitBarrier, SplitTile};

// CHECK-LABEL: .visible .entry a_barrier(
// CHECK: .shared .align 8 .b8 {{.*}}barrier[8];
// CHECK: mbarrier.init.shared.b64 [%r
// CHECK: bar.sync 0;
// CHECK: mbarrier.arrive.shared.b64 %rd
// AMPERE: mbarrier.test_wait.shared.b64 p,
// AMPERE: and.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 255;
// HOPPER: mbarrier.try_wait.shared::cta.b64 p,
// HOPPER: and.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 15;
// CHECK: __ptx_panic
// CHECK: mbarrier.arrive_drop.shared.b64 %rd
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn a_barrier(mut out: DisjointSlice<u32>, #[shared] barrier: SplitBarrier) {
    let arrived = barrier.arrive();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = u32::from(arrived.is_over());
    }
    arrived.wait().leave();
}

// The tile lies behind its barrier. It is written before the arrival, and read after the wait.
// CHECK-LABEL: .visible .entry b_tile(
// CHECK: .shared .align 8 .b8 {{.*}}tile[264];
// CHECK: mbarrier.init.shared.b64
// CHECK: st.shared.b32
// CHECK: mbarrier.arrive.shared.b64
// CHECK: sqrt.rn.f32
// AMPERE: mbarrier.test_wait.shared.b64
// HOPPER: mbarrier.try_wait.shared::cta.b64
// CHECK: ld.shared.b32
// CHECK: mbarrier.arrive.shared.b64
#[kernel(dimensions = 1, launch_bounds(64))]
pub fn b_tile(mut data: DisjointSlice<f32>, #[shared] mut tile: SplitTile<[f32; 64]>) {
    let i = thread::index_1d();
    let Some(data) = data.get_mut(i) else { return tile.leave() };
    tile.own().set(*data);
    let published = tile.publish();
    let root = data.sqrt();
    let view = published.wait();
    *data = root + view[63 - thread::thread_idx_x() as usize % 64];
    view.reclaim().wait().leave();
}

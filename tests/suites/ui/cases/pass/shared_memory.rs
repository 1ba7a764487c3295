//! Shared and constant statics lie in their own memory, and are accessed as such.
#![no_std]
use core::sync::atomic::AtomicU64;

use ptx::Shared;
use ptx::atomic::{Atomic, Block, Ordering};
use ptx::prelude::*;

#[ptx::shared]
static TILE: Shared<[f32; 256]>;

#[ptx::shared]
static COUNT: Shared<Atomic<u32, Block>>;

#[ptx::shared]
static CORE: Shared<[AtomicU64; 4]>;

#[ptx::constant]
static WEIGHTS: [f32; 4] = [0.5, 0.25, 0.125, 0.0625];

// CHECK: .const .align 4 .b8 {{.*}}WEIGHTS[16] = {0, 0, 0, 63
// CHECK-LABEL: .visible .entry count(
// CHECK: st.relaxed.cta.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: atom.acq_rel.cta.shared.add.u32
// CHECK: atom.relaxed.sys.shared.add.u64
// CHECK: ld.acquire.cta.shared.b32
// CHECK-NOT: isspacep
#[kernel]
pub fn count(mut out: DisjointSlice<u32>) {
    if thread::thread_idx_x() == 0 {
        COUNT.store(0, Ordering::Relaxed);
    }
    sync_threads();
    COUNT.fetch_add(1, Ordering::AcqRel);
    // SAFETY: atomics, of which every pattern of bits is a value.
    unsafe { CORE.assume_init_ref()[1].fetch_add(1, Ordering::Relaxed) };
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = COUNT.load(Ordering::Acquire);
    }
}

/// # Safety
/// Blocks must have 256 threads, and `data` an element for every one.
// CHECK-LABEL: .visible .entry reverse(
// CHECK: .shared .align 4 .b8 {{.*}}TILE[1024];
// CHECK: st.shared.b32
// CHECK: bar{{(rier)?}}.sync
// CHECK: ld.shared.b32
// CHECK-NOT: isspacep
#[kernel(launch_bounds(256))]
pub unsafe fn reverse(data: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread writes its own element, and reads another's after the barrier.
    unsafe {
        TILE.write(t, *data.add(t));
        sync_threads();
        *data.add(t) = TILE.read(255 - t);
    }
}

// CHECK-LABEL: .visible .entry weigh(
// CHECK: ld.const.b32
#[kernel]
pub fn weigh(mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out *= WEIGHTS[i.get() % 4];
    }
}

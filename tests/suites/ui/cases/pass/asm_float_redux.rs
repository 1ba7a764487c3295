//! What has no function here because few GPUs have it: the smallest float of a warp's lanes in one instruction.
//@ arch: sm_100a
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry smallest(
// CHECK: redux.sync.min.NaN.f32
#[kernel]
pub unsafe fn smallest(values: *const f32, out: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    unsafe {
        let least: f32;
        ptx::asm!("redux.sync.min.NaN.f32 {}, {}, {};", out(f32) least, in(f32) *values.add(t), in(u32) u32::MAX);
        *out.add(t) = least;
    }
}

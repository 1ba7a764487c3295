//! A barrier is one instruction, and memory accesses stay on their side of it.
#![no_std]
use ptx::prelude::*;

/// # Safety
/// `data` must have an element for every thread of the block and one more.
// CHECK-LABEL: .visible .entry shift(
// CHECK: ld.global
// CHECK: bar{{(rier)?}}.sync 0
// CHECK: st.global
#[kernel]
pub unsafe fn shift(data: *mut u32) {
    let i = thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise; the barrier keeps reads before writes.
    unsafe {
        let value = *data.add(i);
        sync_threads();
        *data.add(i + 1) = value;
    }
}

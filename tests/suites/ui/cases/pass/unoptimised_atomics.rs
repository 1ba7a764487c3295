//! Atomics are right without optimisation, too, where every address has to be asked for its memory.
//@opt-level: 0
#![no_std]
use ptx::atomic::{Atomic, Device, Ordering};
use ptx::prelude::*;

// CHECK: isspacep.local
// CHECK: fence.sc.gpu
// CHECK: atom.acq_rel.gpu.add.u32
/// # Safety
/// `p` must point to a `u32` for atomics alone.
#[kernel]
pub unsafe fn run(p: *mut u32) {
    // SAFETY: the caller's promise.
    let a = unsafe { Atomic::<u32, Device>::from_ptr(p) };
    a.fetch_add(1, Ordering::SeqCst);
}

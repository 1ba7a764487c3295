//! Atomic operations that the GPU does not have, one of them in a function that the kernel calls.
#![no_std]
use ptx::atomic::{Atomic, Cluster, Device, Ordering, fence};
use ptx::prelude::*;

#[inline(never)]
fn publish(wide: &Atomic<u128, Device>) {
    wide.swap(2, Ordering::Relaxed); //~ ERROR: sm_80 has no atomic read-modify-write operations on 128 bits
}

/// # Safety
/// All must point to values for atomics alone.
#[kernel]
pub unsafe fn run(wide: *mut u128, halves: *mut u32, flag: *mut u32) {
    // SAFETY: the caller's promise.
    let (wide, halves, flag) = unsafe {
        (
            Atomic::<u128, Device>::from_ptr(wide),
            Atomic::<u32, Device>::from_ptr(halves),
            Atomic::<u32, Cluster>::from_ptr(flag),
        )
    };
    wide.fetch_add(1, Ordering::Relaxed); //~ ERROR: sm_80 has no atomic read-modify-write operations on 128 bits
    publish(wide);
    halves.fetch_add_bf16x2(0, Ordering::Relaxed); //~ ERROR: sm_80 has no atomic addition of `bf16` values
    flag.store(1, Ordering::Release); //~ ERROR: sm_80 has no cluster scope
    fence::<Cluster>(Ordering::SeqCst); //~ ERROR: sm_80 has no cluster scope
    if ptx::arch() >= 900 {
        wide.swap(3, Ordering::Relaxed);
    }
}

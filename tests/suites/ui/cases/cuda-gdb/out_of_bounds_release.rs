//! compute-sanitizer names the line of a write out of bounds in optimised code with line tables.
//@ profile: release
//@ debug-level: line-tables
//@ launch: out_of_bounds_release<<<1, 32>>>(u64 64, buffer u32 32)
//@ compute-sanitizer: --tool memcheck
//@ compute-sanitizer-check: ========= Invalid __global__ write of size 4 bytes
//@ compute-sanitizer-check: =========     at [...] in out_of_bounds_release.rs:{#write}
//@ compute-sanitizer-check: =========     by thread (0,0,0) in block (0,0,0)
#![no_std]
use ptx::prelude::*;

/// # Safety
/// `out` must have an element for every thread, `ahead` further on.
#[kernel]
pub unsafe fn out_of_bounds_release(ahead: u64, out: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise, which is broken.
    unsafe { *out.add(t + ahead as usize) = 1 }; // #write
}

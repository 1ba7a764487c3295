//! compute-sanitizer names the line of a write out of bounds.
//@ launch: out_of_bounds<<<1, 32>>>(u64 64, buffer u32 32)
//@ compute-sanitizer: --tool memcheck
//@ compute-sanitizer-check: ========= Invalid __global__ write of size 4 bytes
//@ compute-sanitizer-check: =========     at [...] in out_of_bounds.rs:{#write}
//@ compute-sanitizer-check: =========     by thread (0,0,0) in block (0,0,0)
#![no_std]
use ptx::f16;
use ptx::prelude::*;

/// # Safety
/// `out` must have an element for every thread, `ahead` further on.
#[kernel]
pub unsafe fn out_of_bounds(ahead: u64, out: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    // compute-sanitizer reads all debug information to find the line, these types too.
    let (nothing, wide, negative, letter) = ((), u128::MAX, i128::MIN, 'x');
    let (half, double, flag, text) = (f16::ONE, 0.5_f64, true, "text");
    // SAFETY: the caller's promise, which is broken.
    unsafe { *out.add(t + ahead as usize) = 1 }; // #write
    let _: () = nothing;
    let sum = (wide >> 120) as u32 + negative as u32 + letter as u32 + half.to_bits() as u32 + double as u32 + text.len() as u32;
    // SAFETY: the caller's promise.
    unsafe { *out.add(t) = sum + flag as u32 };
}

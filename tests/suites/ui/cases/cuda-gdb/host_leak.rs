//! compute-sanitizer names the lines of the host program on the way to an allocation that nobody frees.
//@ launch: host_leak<<<1, 1>>>(leaked u32 16)
//@ compute-sanitizer: --tool memcheck --leak-check full
//@ compute-sanitizer-check: ========= Leaked 64 bytes at 0x[...]
//@ compute-sanitizer-check: =========         Host Frame: [...] in launch.rs:[...]
#![no_std]
use ptx::prelude::*;

/// # Safety
/// `out` must have an element.
#[kernel]
pub unsafe fn host_leak(out: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { *out = 1 };
}

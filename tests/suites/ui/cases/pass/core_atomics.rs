//! `core::sync::atomic` has system scope, and LLVM 22 dropped the orderings of its read-modify-writes.
#![no_std]
use core::sync::atomic::{AtomicBool, AtomicI8, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

use ptx::prelude::*;

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// # Safety
/// All must point to atomics that live.
// CHECK: .global .align 4 .b8 {{.*}}COUNTER[4]
// CHECK-LABEL: .visible .entry core_atomics(
// CHECK: red.relaxed.sys.global.add.u32
// CHECK: fence.sc.sys
// CHECK: atom.acq_rel.sys.global.add.u64
// CHECK: atom.acquire.sys.global.or.b32
// CHECK: ld.relaxed.sys.global.b32
// CHECK: atom.release.sys.global.cas.b32
// CHECK: atom.acq_rel.sys.global.exch.b64
// CHECK: fence.sc.sys
// CHECK-NEXT: ld.acquire.sys.global.b8
// CHECK: fence.acq_rel.sys
// CHECK: st.release.sys.global.b8
#[kernel]
pub unsafe fn core_atomics(a: *mut u64, b: *mut bool, c: *mut i8, d: *mut *mut u8) {
    // SAFETY: the caller's promise.
    let (a, b, c, d) =
        unsafe { (AtomicU64::from_ptr(a), AtomicBool::from_ptr(b), AtomicI8::from_ptr(c), AtomicPtr::from_ptr(d)) };
    COUNTER.fetch_add(1, Ordering::Relaxed);
    a.fetch_sub(3, Ordering::SeqCst);
    b.fetch_or(true, Ordering::Acquire);
    c.fetch_max(5, Ordering::Release);
    d.swap(core::ptr::null_mut(), Ordering::AcqRel);
    let seen = b.load(Ordering::SeqCst);
    compiler_fence(Ordering::SeqCst);
    fence(Ordering::Release);
    b.store(!seen, Ordering::Release);
}

//! Atomics as the GPU has them: reductions where the result is not used, scopes, fences around orderings, shared memory.
#![no_std]
use ptx::Shared;
use ptx::atomic::{Atomic, Block, Device, Ordering, System};
use ptx::prelude::*;

#[ptx::shared]
static COUNT: Shared<Atomic<u32, Block>>;

// SASS-LABEL: .text.a_reduced:
// SASS-NOT: MEMBAR
// SASS: RED.E.ADD.STRONG.GPU
// SASS-NOT: MEMBAR
// SASS: EXIT
#[kernel]
pub unsafe fn a_reduced(p: *mut u32) {
    unsafe { Atomic::<u32, Device>::from_ptr(p) }.fetch_add(1, Ordering::Relaxed);
}

// SASS-LABEL: .text.b_result:
// SASS: MEMBAR.ALL.GPU
// SASS: ATOMG.E.ADD.STRONG.GPU
// SASS: EXIT
#[kernel]
pub unsafe fn b_result(p: *mut u32, out: *mut u32) {
    unsafe { *out = Atomic::<u32, Device>::from_ptr(p).fetch_add(3, Ordering::AcqRel) }
}

// SASS-LABEL: .text.c_exchange:
// SASS: ATOMG.E.CAS.64.STRONG.SYS
// SASS: EXIT
#[kernel]
pub unsafe fn c_exchange(p: *mut u64, out: *mut u64) {
    let old =
        unsafe { Atomic::<u64, System>::from_ptr(p) }.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed);
    unsafe { *out = old.unwrap_or_else(|old| old) }
}

// SASS-LABEL: .text.d_shared:
// SASS: ATOMS.{{.*}}INC
// SASS: LDS
// SASS: EXIT
#[kernel]
pub unsafe fn d_shared(out: *mut u32) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    unsafe { *out = COUNT.load(Ordering::Relaxed) }
}

// SASS-LABEL: .text.e_loads_and_stores:
// SASS: STG.E.STRONG.GPU
// SASS: LDG.E.STRONG.GPU
// SASS: EXIT
#[kernel]
pub unsafe fn e_loads_and_stores(p: *mut u32, out: *mut u32) {
    let atomic = unsafe { Atomic::<u32, Device>::from_ptr(p) };
    atomic.store(1, Ordering::Relaxed);
    unsafe { *out = atomic.load(Ordering::Relaxed) }
}

// SASS-LABEL: .text.f_floats:
// SASS: RED.E.ADD.F32{{.*}}.STRONG.GPU
// SASS: EXIT
#[kernel]
pub unsafe fn f_floats(p: *mut f32, x: f32) {
    unsafe { Atomic::<f32, Device>::from_ptr(p) }.fetch_add(x, Ordering::Relaxed);
}

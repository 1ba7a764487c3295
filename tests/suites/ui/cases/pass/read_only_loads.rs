//! What a shared slice of a kernel shows cannot change while it runs: it is loaded through the read-only cache. What raw
//! pointers and atomics show may.
#![no_std]
use core::sync::atomic::AtomicU32;

use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_slice(
// CHECK: ld.global.nc.b32
// SASS-LABEL: .text.a_slice:
// SASS: LDG.E.CONSTANT
#[kernel]
pub fn a_slice(x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[i.get()] + 1;
    }
}

// CHECK-LABEL: .visible .entry b_pointer(
// CHECK-NOT: .nc
// CHECK: ld.global.b32
// CHECK-NOT: .nc
// CHECK: ret;
#[kernel]
pub unsafe fn b_pointer(x: *const u32, out: *mut u32) {
    unsafe { *out = *x + 1 }
}

// CHECK-LABEL: .visible .entry c_atomic(
// CHECK-NOT: .nc
// CHECK: ld.relaxed.sys.global.b32
// CHECK-NOT: .nc
// CHECK: ret;
#[kernel]
pub unsafe fn c_atomic(x: *mut u32, out: *mut u32) {
    unsafe { *out = AtomicU32::from_ptr(x).load(core::sync::atomic::Ordering::Relaxed) }
}

// CHECK-LABEL: .visible .entry d_volatile(
// CHECK-COUNT-2: ld.volatile.global.b32
// CHECK: st.volatile.global.b32
#[kernel]
pub unsafe fn d_volatile(x: *mut u32) {
    unsafe { x.write_volatile(x.read_volatile() + x.read_volatile()) }
}

//! Scoped atomics are PTX's, with the orderings of the interoperability guide, chapter 4.
//@arch: sm_90
#![no_std]
use ptx::atomic::{Atomic, AtomicSlice, Block, Cluster, Device, Ordering, System, fence};
use ptx::prelude::*;

/// # Safety
/// `wide` must point to 16 bytes, aligned so, for atomics alone.
// CHECK-LABEL: .visible .entry a_types(
// CHECK: red.relaxed.gpu.global.add.u32
// CHECK: red.relaxed.gpu.global.max.s64
// CHECK: red.relaxed.gpu.global.add.f64
// CHECK: red.relaxed.gpu.global.add.noftz.bf16x2
// CHECK: ld.relaxed.gpu.global.b32
// CHECK: atom.relaxed.gpu.global.cas.b32
// CHECK: fence.sc.sys
// CHECK: atom.acq_rel.sys.global.exch.b128
// CHECK-NOT: isspacep
#[kernel]
pub unsafe fn a_types(
    a: AtomicSlice<u32, Device>,
    b: AtomicSlice<i64, Device>,
    c: AtomicSlice<f64, Device>,
    d: AtomicSlice<u8, Device>,
    wide: *mut u128,
) {
    if let ([a, halves], [b], [c], [d]) = (a.as_slice(), b.as_slice(), c.as_slice(), d.as_slice()) {
        a.fetch_sub(1, Ordering::Relaxed);
        b.fetch_max(7, Ordering::Relaxed);
        c.fetch_add(0.5, Ordering::Relaxed);
        halves.fetch_add_bf16x2(0x3f80_3f80, Ordering::Relaxed);
        d.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise.
    unsafe { Atomic::<u128>::from_ptr(wide) }.swap(5, Ordering::SeqCst);
}

/// # Safety
/// `p` must point to a `u32` for atomics alone.
// CHECK-LABEL: .visible .entry b_orders(
// CHECK: atom.relaxed.cta.global.add.u32
// CHECK: atom.acquire.cluster.global.add.u32
// CHECK: atom.release.gpu.global.add.u32
// CHECK: atom.acq_rel.sys.global.add.u32
// CHECK: fence.sc.gpu
// CHECK: atom.acq_rel.gpu.global.add.u32
// CHECK: ld.acquire.cluster.global.b32
// CHECK: fence.sc.sys
// CHECK: ld.acquire.sys.global.b32
// CHECK: st.release.cta.global.b32
// CHECK: fence.sc.gpu
// CHECK: st.release.gpu.global.b32
#[kernel]
pub unsafe fn b_orders(p: *mut u32) {
    // SAFETY: the caller's promise.
    let (block, cluster, device, system) = unsafe {
        (
            Atomic::<u32, Block>::from_ptr(p),
            Atomic::<u32, Cluster>::from_ptr(p),
            Atomic::<u32, Device>::from_ptr(p),
            Atomic::<u32, System>::from_ptr(p),
        )
    };
    let mut sum = block.fetch_add(1, Ordering::Relaxed);
    sum += cluster.fetch_add(1, Ordering::Acquire);
    sum += device.fetch_add(1, Ordering::Release);
    sum += system.fetch_add(1, Ordering::AcqRel);
    sum += device.fetch_add(1, Ordering::SeqCst);
    sum += cluster.load(Ordering::Acquire);
    sum += system.load(Ordering::SeqCst);
    block.store(sum, Ordering::Release);
    device.store(sum, Ordering::SeqCst);
}

/// # Safety
/// `p` must point to a `u32` for atomics alone.
// CHECK-LABEL: .visible .entry c_exchanges(
// CHECK: atom.relaxed.gpu.global.cas.b32
// CHECK: atom.acquire.gpu.global.cas.b32
// CHECK: atom.acq_rel.gpu.global.cas.b32
// CHECK: fence.sc.gpu
// CHECK: atom.acq_rel.gpu.global.cas.b32
// CHECK: fence.acq_rel.cta
// CHECK: fence.acq_rel.cluster
// CHECK: fence.sc.sys
#[kernel]
pub unsafe fn c_exchanges(p: *mut u32) {
    // SAFETY: the caller's promise.
    let a = unsafe { Atomic::<u32, Device>::from_ptr(p) };
    let _ = a.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    let _ = a.compare_exchange_weak(1, 2, Ordering::Relaxed, Ordering::Acquire);
    let _ = a.compare_exchange(2, 3, Ordering::Release, Ordering::Acquire);
    let _ = a.compare_exchange(3, 4, Ordering::Relaxed, Ordering::SeqCst);
    fence::<Block>(Ordering::Acquire);
    fence::<Cluster>(Ordering::Release);
    fence::<System>(Ordering::SeqCst);
}

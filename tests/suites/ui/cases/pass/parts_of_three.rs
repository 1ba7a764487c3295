//! Whether a thread has its part of a slice is asked without a division: of the part's last element. A step of a loop
//! asks for what has been divided before it.
#![no_std]
use ptx::PerThread;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_part(
// CHECK-NOT: mul.hi.u64
// CHECK: mul.lo.s64 {{.*}}, 3;
// CHECK-NOT: mul.hi.u64
// CHECK: setp.ge.u64
// CHECK-NOT: mul.hi.u64
// CHECK: st.global
#[kernel(dimensions = 1)]
pub fn a_part(mut to: PerThread<u8, 3>) {
    if let Some(to) = to.array() {
        *to = [1, 2, 3];
    }
}

// CHECK-LABEL: .visible .entry b_many(
// CHECK: mul.hi.u64
// CHECK: setp.{{ge|lt}}.u64
// CHECK: atom.global
#[kernel(dimensions = 1)]
pub fn b_many(values: &[u8], counts: ptx::atomic::AtomicSlice<u32, ptx::atomic::Device>, step: usize) {
    let mut at = thread::index_1d().get();
    while at < values.len() / 3 {
        counts[0].fetch_add(1, ptx::atomic::Ordering::Relaxed);
        at += step;
    }
}

//! What a thread's position has found of the launch counts behind it, as if the kernel's attribute said so: a part's number is
//! that of a thread in one dimension, whose position in others is 0.
#![no_std]
use ptx::PerThread;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry case(
// CHECK: %ntid.y
// CHECK-NOT: mul
// CHECK: mul.hi.u32
// CHECK-NOT: %ctaid.y
// CHECK-NOT: %tid.y
// CHECK: mul.wide.u32 %rd[[FIRST:[0-9]+]], {{%r[0-9]+, %r[0-9]+}};
// CHECK-NOT: mul.lo.s32
// CHECK: st.global
#[kernel]
pub fn case(mut to: PerThread<u8, 3>) {
    let at = thread::index_1d().get_u32() as u8;
    if let Some(to) = to.array() {
        *to = [at; 3];
    }
}

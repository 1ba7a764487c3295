//! A kernel sets a condition of a graph by the driver's own function, from one thread, and nothing has to be linked.
//@ revisions: old new
//@[old] arch: sm_75
//@[new] arch: sm_90
#![no_std]
use ptx::graph::Condition;
use ptx::prelude::*;

// CHECK: .extern .func cudaGraphSetConditional
// CHECK-NEXT: (
// CHECK-NEXT: .param .b64
// CHECK-NEXT: .param .b32

// CHECK-LABEL: .visible .entry any(
// CHECK-NOT: tid.x
// CHECK: call.uni cudaGraphSetConditional
// SASS-LABEL: .text.any:
// SASS: CALL
// SASS: EXIT
/// # Safety
/// It must be launched with one thread.
#[kernel]
pub unsafe fn any(value: u32, mut condition: Condition<'_>) {
    // SAFETY: the caller's promise.
    unsafe { condition.set_from_this_thread(value) };
}

// CHECK-LABEL: .visible .entry first(
// CHECK: .param .u64 first_param_1
// CHECK: tid.x
// CHECK: ctaid.x
// CHECK: bra
// CHECK: st.param.b32 [param1]
// CHECK: st.param.b64 [param0]
// CHECK: call.uni cudaGraphSetConditional
#[kernel]
pub fn first(value: u32, mut condition: Condition<'_>) {
    condition.set(value);
}

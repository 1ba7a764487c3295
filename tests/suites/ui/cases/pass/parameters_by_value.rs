//! A structure by value is read out of parameter space, member by member where it is used; one that is changed is a copy.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub struct Settings {
    flag: u8,
    count: u32,
    weights: [f32; 6],
    limit: u64,
}

// CHECK-LABEL: .visible .entry a_members(
// CHECK: .param .align 8 .b8 a_members_param_0[40],
// CHECK-NOT: .local
// CHECK-DAG: ld.param.b8 {{.*}}, [a_members_param_0];
// CHECK-DAG: ld.param.b32 {{.*}}, [a_members_param_0+4];
// CHECK-DAG: ld.param.b64 {{.*}}, [a_members_param_0+32];
// CHECK-NOT: .local
// CHECK: ret;
// SASS-LABEL: .text.a_members:
// SASS-NOT: LDL
// SASS: EXIT
#[kernel]
pub unsafe fn a_members(s: Settings, out: *mut u64) {
    unsafe { *out = s.limit + u64::from(s.flag) + u64::from(s.count) }
}

// CHECK-LABEL: .visible .entry b_changed(
// CHECK: .local .align 4
// CHECK-COUNT-6: ld.param.b32
// CHECK: st.local.b32
// CHECK: ld.local.b32
#[kernel]
pub unsafe fn b_changed(mut s: Settings, i: usize, out: *mut f32) {
    unsafe {
        s.weights[i % 6] = 3.0;
        *out = s.weights[(i + 1) % 6];
    }
}

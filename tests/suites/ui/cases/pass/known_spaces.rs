//! Pointers that know their space: accesses of it where the compiler could not see what a pointer that was read points to.
#![no_std]
use ptx::memory::{ConstantPtr, GlobalPtr, LocalPtr, SharedPtr};
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_generic(
// CHECK: ld.b32
// CHECK: st.b32
#[kernel]
pub unsafe fn a_generic(pointers: *const *mut u32) {
    unsafe { *(*pointers.add(1)) = *(*pointers) }
}

// CHECK-LABEL: .visible .entry b_known(
// CHECK-NOT: isspacep
// CHECK-DAG: ld.global.b32
// CHECK-DAG: ld.shared.b32
// CHECK-DAG: ld.local.b32
// CHECK-DAG: ld.const.b32
// CHECK-DAG: st.global.b32
// CHECK-DAG: st.shared.b32
// CHECK-DAG: st.local.b32
// CHECK-NOT: isspacep
// CHECK: ret;
#[kernel]
pub unsafe fn b_known(pointers: *const [*mut u32; 4]) {
    unsafe {
        let [global, shared, local, constant] = *pointers;
        let (global, shared) = (GlobalPtr::assume(global), SharedPtr::assume(shared));
        let (local, constant) = (LocalPtr::assume(local), ConstantPtr::assume(constant));
        let sum = global.read() + shared.read() + local.read() + constant.read();
        global.add(1).write(sum);
        shared.add(2).write(sum);
        local.add(3).write(sum);
    }
}

// CHECK-LABEL: .visible .entry c_asked(
// CHECK: isspacep.shared
// CHECK: ld.shared.b32
#[kernel]
pub unsafe fn c_asked(pointers: *const *mut u32, out: *mut u32) {
    unsafe {
        if let Some(at) = SharedPtr::new(*pointers) {
            *out = at.read();
        }
    }
}

// A reference made of it is known, too.
// CHECK-LABEL: .visible .entry d_addresses(
// CHECK: cvta.shared.u64
// CHECK: ld.shared.v2.b32
// CHECK: cvta.to.shared.u64
#[kernel]
pub unsafe fn d_addresses(address: usize, out: *mut u64) {
    unsafe {
        let at = SharedPtr::<ptx::vec::UInt2>::from_address(address);
        let [x, y] = (*at.as_ptr()).to_array();
        *out = u64::from(x + y) + at.cast::<u8>().add(8).to_address() as u64;
    }
}

//! Raw pointers are generic addresses in global memory; they promise nothing about aliasing.
#![no_std]
use ptx::prelude::*;

/// # Safety
/// `from` and `to` must be valid for `count` elements.
// CHECK-LABEL: .visible .entry copy(
// CHECK: .param .u64 {{.*}}copy_param_0,
// CHECK-NEXT: .param .u64 {{.*}}copy_param_1,
// CHECK-NEXT: .param .u64 copy_param_2
// CHECK: cvta.to.global.u64
// CHECK-NOT: ld.global.nc
// CHECK: ld.global.
// CHECK: st.global.
#[kernel]
pub unsafe fn copy(from: *const u32, to: *mut u32, count: usize) {
    let i = thread::index_1d().get();
    if i < count {
        // SAFETY: the caller's promise.
        unsafe { *to.add(i) = *from.add(i) };
    }
}

//! A pointer inside a struct by value is known to point to global memory.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Image {
    pub pixels: *mut u32,
    pub width: u32,
}

/// # Safety
/// `image.pixels` must point to `image.width` pixels.
// CHECK-LABEL: .visible .entry fill(
// CHECK: .param .align 8 .b8 fill_param_0[16]
// CHECK: cvta.to.global.u64
// CHECK: st.global
#[kernel]
pub unsafe fn fill(image: Image, color: u32) {
    let i = thread::index_1d().get();
    if i < image.width as usize {
        // SAFETY: the caller's promise.
        unsafe { *image.pixels.add(i) = color };
    }
}

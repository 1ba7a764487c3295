//! Copies and fills of 128 bytes and more go by the words that the alignment allows; LLVM's own loops go by bytes.
//@ arch: sm_90
#![no_std]
use ptx::prelude::*;

// Without alignment there are only bytes.
// CHECK-LABEL: .visible .entry bytes(
// CHECK: st.global.b8
#[kernel]
pub unsafe fn bytes(from: &[u8], to: *mut u8) {
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
}

// CHECK-LABEL: .visible .entry few(
// CHECK-NOT: .b8
// CHECK-NOT: bra
// CHECK: ld.global.b64 {{%rd[0-9]+}}, [{{%rd[0-9]+}}+184];
// CHECK-NOT: bra
// CHECK: ret;
#[kernel]
pub unsafe fn few(from: *const [u64; 24], to: *mut [u64; 24]) {
    unsafe { core::ptr::copy_nonoverlapping(from, to, 1) };
}

// CHECK-LABEL: .visible .entry filled(
// CHECK-NOT: .b8
// CHECK: st.global.b32
// CHECK-NOT: .b8
// CHECK: ret;
#[kernel]
pub unsafe fn filled(to: *mut f32, n: usize) {
    unsafe { core::ptr::write_bytes(to, 0, n) };
}

// CHECK-LABEL: .visible .entry many(
// CHECK-NOT: .b8
// CHECK: st.global.b64
// CHECK: bra
// CHECK: [{{%rd[0-9]+}}+8000]
// CHECK-NOT: .b8
// CHECK: ret;
#[kernel]
pub unsafe fn many(from: *const [u64; 1001], to: *mut [u64; 1001]) {
    unsafe { core::ptr::copy_nonoverlapping(from, to, 1) };
}

// They may overlap: up or down.
// CHECK-LABEL: .visible .entry moved(
// CHECK-NOT: .b8
// CHECK: ld.global.b64
// CHECK: ld.global.b64
// CHECK: st.global.b64
// CHECK-NOT: .b8
// CHECK: ret;
#[kernel]
pub unsafe fn moved(from: *const [u64; 24], to: *mut [u64; 24]) {
    unsafe { *to = *from };
}

// CHECK-LABEL: .visible .entry slice(
// CHECK-NOT: .b8
// CHECK: ld.global.nc.b32
// CHECK-NOT: .b8
// CHECK: ret;
#[kernel]
pub unsafe fn slice(from: &[f32], to: *mut f32) {
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
}

// From a parameter, without a copy of it in local memory.
// CHECK-LABEL: .visible .entry whole(
// CHECK-NOT: __local_depot
// CHECK: ld.param.b64
// CHECK-NOT: ld.param.b8
// CHECK: st.global.b64
// CHECK: ret;
#[kernel]
pub fn whole(value: [u64; 100], mut to: DisjointSlice<[u64; 100]>) {
    if let Some(to) = to.get_mut(thread::index_1d()) {
        *to = value;
    }
}

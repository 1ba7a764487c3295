//! A structure of 16 bytes that is aligned to 16 is loaded and stored at once; with less alignment, by its members.
#![no_std]
use ptx::CxxType;
use ptx::prelude::*;

#[derive(Clone, Copy, CxxType)]
#[repr(C, align(16))]
pub struct Quad {
    x: f32,
    y: f32,
    z: f32,
    w: f32,
}

#[derive(Clone, Copy, CxxType)]
#[repr(C)]
pub struct Loose {
    x: f32,
    y: f32,
}

// CHECK-LABEL: .visible .entry a_aligned(
// CHECK: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global
// SASS-LABEL: .text.a_aligned:
// SASS: LDG.E.128
// SASS: STG.E.128
#[kernel]
pub unsafe fn a_aligned(x: *const Quad, out: *mut Quad) {
    unsafe {
        let q = *x;
        *out = Quad { x: q.x * 2.0, y: q.y * 2.0, z: q.z * 2.0, w: q.w * 2.0 };
    }
}

// CHECK-LABEL: .visible .entry b_loose(
// CHECK-COUNT-2: ld.global.b32
// CHECK-COUNT-2: st.global.b32
// SASS-LABEL: .text.b_loose:
// SASS-NOT: LDG.E.64
// SASS: STG.E
// SASS: EXIT
#[kernel]
pub unsafe fn b_loose(x: *const Loose, out: *mut Loose) {
    unsafe {
        let l = *x;
        *out = Loose { x: l.x * 2.0, y: l.y * 2.0 };
    }
}

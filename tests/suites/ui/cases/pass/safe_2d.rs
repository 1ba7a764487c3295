//! Two dimensions.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry transpose(
// CHECK: %ctaid.y
// CHECK: ld.global.nc
// CHECK: st.global
#[kernel]
pub fn transpose(from: &[f32], width: usize, height: usize, mut to: DisjointSlice<f32>) {
    let at = thread::index_2d();
    // SAFETY: every thread gives the same width.
    if let Some(to) = unsafe { to.get_mut_2d(at, height) } {
        if at.y() < width {
            *to = from[at.x() * width + at.y()];
        }
    }
}

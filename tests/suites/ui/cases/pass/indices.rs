//! Positions and extents are special registers.
#![no_std]
use ptx::prelude::*;

/// # Safety
/// `out` must have room for 13 elements.
// CHECK-LABEL: .visible .entry positions(
// CHECK: mov.u32 {{%r[0-9]+}}, %tid.x;
// CHECK: mov.u32 {{%r[0-9]+}}, %tid.y;
// CHECK: mov.u32 {{%r[0-9]+}}, %tid.z;
// CHECK: mov.u32 {{%r[0-9]+}}, %ctaid.x;
// CHECK: mov.u32 {{%r[0-9]+}}, %ctaid.y;
// CHECK: mov.u32 {{%r[0-9]+}}, %ctaid.z;
// CHECK: mov.u32 {{%r[0-9]+}}, %ntid.x;
// CHECK: mov.u32 {{%r[0-9]+}}, %ntid.y;
// CHECK: mov.u32 {{%r[0-9]+}}, %ntid.z;
// CHECK: mov.u32 {{%r[0-9]+}}, %nctaid.x;
// CHECK: mov.u32 {{%r[0-9]+}}, %nctaid.y;
// CHECK: mov.u32 {{%r[0-9]+}}, %nctaid.z;
#[kernel]
pub unsafe fn positions(out: *mut u32) {
    let (t, b, d, g) = (thread::thread_idx(), thread::block_idx(), thread::block_dim(), thread::grid_dim());
    let all = [t.x, t.y, t.z, b.x, b.y, b.z, d.x, d.y, d.z, g.x, g.y, g.z, thread::lane_id()];
    for (i, value) in all.into_iter().enumerate() {
        // SAFETY: there are 13.
        unsafe { out.add(i).write_volatile(value) };
    }
}

//! Shared statics: elements of rows are read and written where they lie, and a type has the alignment that it asks for.
#![no_std]
use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static TILE: Shared<[[f32; 33]; 32]>;

/// What `cp.async.bulk.tensor` with a swizzle of 128 bytes asks for.
#[repr(C, align(1024))]
pub struct Swizzled(pub [f32; 64]);

#[ptx::shared]
static SWIZZLED: Shared<Swizzled>;

/// # Safety
/// Blocks must have 32 by 32 threads, and `data` an element for each.
// CHECK-LABEL: .visible .entry columns(
// CHECK: .shared .align 4 .b8 {{.*}}TILE[4224];
// CHECK-NOT: .local
// CHECK: st.shared.b32
// CHECK: bar.sync 0;
// CHECK: ld.shared.b32
// CHECK-NOT: ld.shared
// CHECK: ret;
#[kernel(launch_bounds(1024))]
pub unsafe fn columns(data: *mut f32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // SAFETY: each thread writes its own element, and reads another's after the barrier.
    unsafe {
        TILE.row(y).write(x, *data.add(32 * y + x));
        sync_threads();
        *data.add(32 * y + x) = TILE.row(x).read(y);
    }
}

/// # Safety
/// `data` must have 64 elements.
// CHECK-LABEL: .visible .entry swizzled(
// CHECK: .shared .align 1024 .b8 {{.*}}SWIZZLED[1024];
#[kernel(launch_bounds(64))]
pub unsafe fn swizzled(data: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread writes its own element, and reads another's after the barrier.
    unsafe {
        let tile = SWIZZLED.as_ptr().cast::<f32>();
        tile.add(t).write(*data.add(t));
        sync_threads();
        *data.add(t) = *tile.add(63 - t);
    }
}

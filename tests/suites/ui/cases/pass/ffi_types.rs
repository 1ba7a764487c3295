//! Types that only C++ has a name for, and handles, have the PTX types of what they hold.
#![no_std]
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use ptx::ffi::{CChar, Char16, LongLong, Restrict, ULongLong, Volatile};
use ptx::prelude::*;
use ptx::{SamplerObject, SurfaceObject, TextureObject};

// CHECK-LABEL: .visible .entry handles(
// CHECK: .param .u64 handles_param_0,
// CHECK: .param .u64 handles_param_1,
// CHECK: .param .u64 handles_param_2,
#[kernel]
pub fn handles(texture: TextureObject, surface: SurfaceObject, sampler: SamplerObject, mut out: DisjointSlice<u64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = *texture ^ *surface ^ *sampler;
    }
}

// CHECK-LABEL: .visible .entry integers(
// CHECK: .param .{{[us]}}8 integers_param_0,
// CHECK: .param .{{[us]}}64 integers_param_1,
// CHECK: .param .u64 integers_param_2,
// CHECK: .param .u16 integers_param_3,
#[kernel]
pub fn integers(a: CChar, b: LongLong, c: ULongLong, d: Char16, mut out: DisjointSlice<LongLong>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = LongLong(i64::from(*a) + *b + *c as i64 + i64::from(*d));
    }
}

// CHECK-LABEL: .visible .entry pointers(
// CHECK: .param .u64 .ptr .align 1 pointers_param_0,
// CHECK: ld.volatile.global
// CHECK: red{{.*}}.add
#[kernel]
pub fn pointers(
    fast: Restrict<*mut f32>,
    slow: *mut Volatile<u32>,
    count: *mut AtomicU32,
    cell: *const UnsafeCell<i32>,
) {
    // SAFETY: the caller's memory.
    unsafe {
        (*count).fetch_add((*slow).read(), Ordering::Relaxed);
        fast.write((*cell).get().read() as f32);
    }
}

//! Policies for L2 made once, and taken by loads, stores and copies; copies with zeros; vectors of 32 bytes on GPUs that
//! have them.
//@ arch: sm_100
#![no_std]
use ptx::memory::{self, CachePolicy, Evict, Rest};
use ptx::prelude::*;
use ptx::vec::Float4;

// CHECK-LABEL: .visible .entry a_policies(
// CHECK: createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 [[KEEP:%rd[0-9]+]], %r
// CHECK-NOT: createpolicy.fractional
// CHECK: ld.global.L2::cache_hint.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], [[KEEP]];
// CHECK: ld.global.L2::cache_hint.v2.b64 {%rd{{[0-9]+}}, %rd{{[0-9]+}}}, [%rd{{[0-9]+}}], [[KEEP]];
// CHECK: createpolicy.range.global.L2::evict_first.L2::evict_first.b64 [[RANGE:%rd[0-9]+]], [%rd
// CHECK: st.global.L2::cache_hint.b8 [%rd{{[0-9]+}}], %rs{{[0-9]+}}, [[RANGE]];
// CHECK: createpolicy.cvt.L2.b64
#[kernel]
pub unsafe fn a_policies(from: *const f32, to: *mut u8, out: *mut Float4, property: u64) {
    unsafe {
        let keep = CachePolicy::fraction(Evict::Last, Rest::Unchanged, 0.5);
        let one = memory::load_with(from, keep);
        let again = CachePolicy::fraction(Evict::Last, Rest::Unchanged, 0.5);
        let four = memory::load_with(from.cast::<Float4>(), again);
        let range = CachePolicy::range(Evict::First, Rest::First, from, 64, 4096);
        memory::store_with(to, 5, range);
        memory::store_with(out, four * one, CachePolicy::of_property(property));
    }
}

// CHECK-LABEL: .visible .entry b_copies(
// CHECK: cp.async.ca.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 4, %r
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %r
// CHECK: cp.async.cg.shared.global.L2::cache_hint [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %rd
#[kernel]
pub unsafe fn b_copies(to: *mut u32, from: *const u32, bytes: u32) {
    unsafe {
        memory::copy_async_part(to, from, bytes);
        memory::copy_async_if(to.cast::<Float4>(), from.cast(), bytes > 3);
        let keep = CachePolicy::fraction(Evict::Last, Rest::First, 1.0);
        memory::copy_async_with(to.cast::<Float4>(), from.cast(), keep);
    }
}

// CHECK-LABEL: .visible .entry c_wide(
// CHECK: ld.global.v4.b64 {
// CHECK: ld.global.nc.v4.b64 {
// CHECK: st.global.v4.b64 [
#[kernel]
pub unsafe fn c_wide(to: *mut [f64; 4], from: *const [f32; 8], also: *const [f64; 4]) {
    unsafe {
        let (a, b) = (memory::load_wide(from), memory::load_wide_nc(also));
        let sum = core::array::from_fn(|i| f64::from(a[i] + a[i + 4]) + b[i]);
        memory::store_wide(to, sum);
    }
}

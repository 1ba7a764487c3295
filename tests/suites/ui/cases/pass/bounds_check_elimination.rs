//! Where an index cannot be out of bounds nothing is checked; where one check before a loop will do, there is one.
//! (A failed check hands over a number beside the place's, or one of 64 bits in the first word of the record.)
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry a_iterated(
// CHECK: ld.global.nc.b32
// CHECK-NOT: {{st.volatile.global.(v2.u32 .*[+]16\]|u64 .*[+]32\])}}
#[kernel]
pub fn a_iterated(x: &[f32], mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = x.iter().sum();
    }
}

// CHECK-LABEL: .visible .entry b_by_length(
// CHECK: ld.global.nc.b32
// CHECK-NOT: {{st.volatile.global.(v2.u32 .*[+]16\]|u64 .*[+]32\])}}
#[kernel]
pub fn b_by_length(x: &[f32], mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        for i in 0..x.len() {
            *out += x[i];
        }
    }
}

// CHECK-LABEL: .visible .entry c_of_arrays(
// CHECK-NOT: setp
// CHECK: ld.global.b32
// CHECK-NOT: {{st.volatile.global.(v2.u32 .*[+]16\]|u64 .*[+]32\])}}
#[kernel]
pub unsafe fn c_of_arrays(i: usize, x: *const [f32; 16], out: *mut f32) {
    unsafe { *out = (*x)[i % 16] }
}

// CHECK-LABEL: .visible .entry d_asked_for(
// CHECK: setp.lt.and.u64
// CHECK: ld.global.nc.b32
// CHECK: ld.global.nc.b32
// CHECK-NOT: {{st.volatile.global.(v2.u32 .*[+]16\]|u64 .*[+]32\])}}
#[kernel]
pub fn d_asked_for(x: &[f32], y: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i)
        && let (Some(a), Some(b)) = (x.get(i.get()), y.get(i.get()))
    {
        *out = a + b;
    }
}

// One check before the loop, and none in it.
// CHECK-LABEL: .visible .entry e_to_a_number(
// CHECK: add.s64 [[LAST:%rd[0-9]+]], {{%rd[0-9]+}}, -1;
// CHECK-NEXT: setp.le.u64 [[OUT:%p[0-9]+]], {{%rd[0-9]+}}, [[LAST]];
// CHECK-NEXT: @[[OUT]] bra [[PANIC:[$]L_.*]];
// CHECK: add.f32
// CHECK-NOT: bra [[PANIC]]
// CHECK: ret;
// CHECK: [[PANIC]]:
// CHECK: ld.const.u64 {{.*}}, [__ptx_panic];
#[kernel]
pub fn e_to_a_number(x: &[f32], n: usize, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let mut sum = 0.0;
        for i in 0..n {
            sum += x[i];
        }
        *out = sum;
    }
}

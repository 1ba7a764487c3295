//! What an index costs: nothing is tested that the launch has tested, and arithmetic is in 32 bits.
//@ link-arg: --panic=trap
#![no_std]
use ptx::prelude::*;
use ptx::{Disjoint2d, PerBlock};

// CHECK-LABEL: .visible .entry a_checked(
// CHECK-DAG: %ntid.y;
// CHECK-DAG: %ntid.z;
// CHECK-DAG: %nctaid.y;
// CHECK-DAG: %nctaid.z;
// CHECK: mad.lo.s32
// CHECK: st.global
#[kernel]
pub fn a_checked(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

// Two branches, of which one is the index's, in the whole kernel: no other register is read.
// CHECK-LABEL: .visible .entry b_promised(
// CHECK-NOT: %ntid.y
// CHECK-NOT: nctaid
// CHECK-NOT: mul.hi
// CHECK: mad.lo.s32
// CHECK-NOT: trap
// CHECK: setp
// CHECK: bra
// CHECK-NOT: bra
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn b_promised(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

// A round of four, a loop for the rest, and in both an address for each element by an addition.
// CHECK-LABEL: .visible .entry c_strided(
// CHECK: ld.global.b32
// CHECK-NOT: mul
// CHECK-COUNT-4: st.global.b32
// CHECK: .pragma "nounroll";
// CHECK-NEXT: ld.global.b32
// CHECK-NOT: mul
// CHECK: st.global.b32
// CHECK-NOT: mul
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn c_strided(mut out: DisjointSlice<u32>) {
    for (_, out) in out.grid_stride() {
        *out += 1;
    }
}

// A round of four and the rest, which the compiler counts, and no test of `x[i]`.
// CHECK-LABEL: .visible .entry d_rounds(
// CHECK-COUNT-5: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK-NOT: trap
// CHECK: ret;
#[kernel(dimensions = 1)]
pub fn d_rounds(x: &[f32], mut out: DisjointSlice<f32>) {
    let sum = thread::grid_stride(x.len()).map(|i| x[i]).sum();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum;
    }
}

// No high half of a product is looked at, as `get_mut_2d` must.
// CHECK-LABEL: .visible .entry e_plane(
// CHECK-NOT: mul.hi
// CHECK-NOT: %ntid.z
// CHECK: setp
// CHECK-NOT: mul.hi
// CHECK: bra
// CHECK-NOT: bra
// CHECK: st.global
#[kernel(dimensions = 2)]
pub fn e_plane(mut out: Disjoint2d<u32>) {
    if let Some(out) = out.get_mut(thread::index_2d()) {
        *out = 7;
    }
}

// CHECK-LABEL: .visible .entry f_block(
// CHECK-NOT: %tid.y
// CHECK-NOT: %ctaid.y
// CHECK: st.global
#[kernel(dimensions = 1)]
pub fn f_block(mut out: PerBlock<u32>) {
    if let Some(out) = out.part().get_mut() {
        *out = 7;
    }
}

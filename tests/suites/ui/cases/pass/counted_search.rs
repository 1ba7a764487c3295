//! What a search counts until it ends is one counter of 32 bits, without a choice in each round.
#![no_std]
use core::iter;
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry orbits(
// CHECK: fma.rn.f32
// CHECK-NOT: selp
// CHECK-NOT: add.s64
// CHECK: add.s32
// CHECK: bra
// CHECK: selp
// CHECK: st.global
#[kernel(dimensions = 1)]
pub fn orbits(starts: &[f32], mut counts: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let (Some(count), Some(&start)) = (counts.get_mut(i), starts.get(i.get())) {
        let orbit = iter::successors(Some(0.0_f32), |x| Some(x.mul_add(*x, start)));
        *count = orbit.take(300).take_while(|x| *x <= 4.0).count() as u32;
    }
}

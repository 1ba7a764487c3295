//! A power that overflows is tested for before it is divided or converted. The test was gone: LLVM divides before it knows
//! whether there is a power, by a call here, and a call with what is no number is undefined behaviour.
#![no_std]
use ptx::prelude::*;

// The products' upper halves alone are two: a test for an overflow has more.
// CHECK-LABEL: .visible .entry case(
// CHECK: mul.hi.u64
// CHECK: mul.hi.u64
// CHECK: mul.hi.u64
// CHECK: mul.hi.u64
// CHECK: __umodti3
#[kernel]
pub fn case(bases: &[u128], mut out: DisjointSlice<u128>) {
    let i = thread::index_1d();
    let base = bases[i.get()];
    if let Some(out) = out.get_mut(i) {
        *out = base.checked_pow(i.get() as u32 & 3).map_or(7, |power| power % (base | 1));
    }
}

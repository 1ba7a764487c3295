//! Halfwords are negated, subtracted and made positive in 32 bits: ptxas 13.0.88 takes the result of `neg.s16` and
//! `abs.s16` for an extended one, so that -32,768 came out positive. LLVM makes `neg.s16` of wider operations, too.
//@ revisions: older newer
//@[older] arch: sm_75
//@[newer] arch: sm_90
#![no_std]
use ptx::prelude::*;

// CHECK-NOT: neg.s16
// CHECK-NOT: abs.s16
// CHECK-NOT: sub.s16
// CHECK: .visible .entry case(
// CHECK-DAG: neg.s32 %wide0, %wide1; cvt.u16.u32
// CHECK-DAG: abs.s32 %wide0, %wide1; cvt.u16.u32
// CHECK-DAG: sub.s32 %wide0, %wide1, %wide2; cvt.u16.u32
// CHECK-NOT: neg.s16
// CHECK-NOT: abs.s16
// CHECK-NOT: sub.s16
#[kernel]
pub fn case(words: &[i16], wide: &[i32], mut out: DisjointSlice<i64>) {
    let i = thread::index_1d();
    let at = i.get();
    if let Some(out) = out.get_mut(i)
        && at < words.len()
        && at < wide.len()
    {
        let word = if at % 3 == 0 { i16::MIN } else { words[at] };
        let (absolute, overflows) = word.overflowing_abs();
        *out = i64::from(word.saturating_abs()) << 32 | i64::from(absolute) ^ i64::from(overflows);
        *out ^= i64::from((wide[at] as i16).wrapping_mul(-4)) + i64::from(wide[at] as i16 - words[at]);
    }
}

//! One source for several GPUs: the target is named, and the version is the lowest that has it.
//@revisions: sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120
//@[sm_75] arch: sm_75
//@[sm_80] arch: sm_80
//@[sm_86] arch: sm_86
//@[sm_89] arch: sm_89
//@[sm_90] arch: sm_90
//@[sm_90a] arch: sm_90a
//@[sm_100] arch: sm_100
//@[sm_120] arch: sm_120
#![no_std]
use ptx::prelude::*;

// CHECK(sm_75): .version 7.0
// CHECK(sm_90): .version 7.8
// CHECK(sm_90a): .version 8.0
// CHECK(sm_75): .target sm_75
// CHECK(sm_90a): .target sm_90a
// CHECK: .visible .entry increment(
#[kernel]
pub fn increment(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out += 1;
    }
}

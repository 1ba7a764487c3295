//! Minima and maxima of bytes and halfwords are computed in 32 bits for sm_90: ptxas 13.0.88 makes wrong code of
//! `max.u16` before a comparison.
//@ arch: sm_90
#![no_std]
use ptx::prelude::*;

// CHECK-NOT: max.u16
// CHECK-NOT: min.s16
// CHECK: max.u32
// CHECK: min.s32
#[kernel]
pub fn run(bytes: &[u8], words: &[i16], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let at = i.get();
    if let Some(out) = out.get_mut(i)
        && at < bytes.len()
        && at < words.len()
    {
        *out = match bytes[at].max(1) {
            1 => 10,
            2 => 20,
            other => u32::from(other),
        };
        *out += words[at].min(7).unsigned_abs() as u32;
    }
}

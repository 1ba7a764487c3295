//! Constant tables lie in global memory, initialised.
#![no_std]
use ptx::prelude::*;

static PRIMES: [u32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

// CHECK: .global {{.*}}[32] = {2, 0, 0, 0, 3
// CHECK-LABEL: .visible .entry primes(
// CHECK: ld.global
#[kernel]
pub fn primes(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = PRIMES[i.get() % 8];
    }
}

//! Many live values need no local memory when registers are not bounded.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry many_values(
// CHECK-NOT: .local
#[kernel]
pub fn many_values(x: &[f32; 32], mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let scaled = x.map(|x| x * *out);
        *out = scaled.iter().sum();
    }
}

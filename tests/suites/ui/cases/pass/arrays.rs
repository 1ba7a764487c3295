//! An array by value is passed like a struct of its elements.
#![no_std]
use ptx::prelude::*;

// CHECK-LABEL: .visible .entry polynomial(
// CHECK: .param .align 4 .b8 polynomial_param_0[16],
#[kernel]
pub fn polynomial(coefficients: [f32; 4], mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = coefficients.iter().fold(0.0, |sum, c| sum * *x + c);
    }
}

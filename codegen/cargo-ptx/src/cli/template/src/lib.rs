//! The kernels. This library is compiled twice: for the GPU, and for the program that launches them.

#![cfg_attr(target_arch = "nvptx64", no_std)]

use ptx::prelude::*;

/// `y = a * x + y`, one element a thread.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += a * x[i.get()];
    }
}

//! A dependency with a kernel `scale`.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn scale(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out *= 3.0;
    }
}

//! Two kernels of one name, one of them in a dependency.
//@aux-build: has_scale.rs
#![no_std]
use ptx::prelude::*;

extern crate has_scale;

#[kernel]
pub fn scale(mut out: DisjointSlice<f32>) { //~ ERROR: two kernels are named `scale`
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out *= 2.0;
    }
}

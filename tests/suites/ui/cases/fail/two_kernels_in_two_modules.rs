//! Two kernels of one name in modules of one crate.
#![no_std]
use ptx::prelude::*;

pub mod a {
    use super::*;

    #[kernel]
    pub fn scale(mut out: DisjointSlice<f32>) {
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out *= 2.0;
        }
    }
}

pub mod b {
    use super::*;

    #[kernel]
    pub fn scale(mut out: DisjointSlice<f32>) { //~ ERROR: two kernels are named `scale`
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out *= 3.0;
        }
    }
}

//! Declarations of one function that are not alike.
#![no_std]
use ptx::prelude::*;

mod first {
    #[ptx::device(import)]
    unsafe extern "C" {
        pub safe fn scale(value: f32) -> f32;
    }
}

mod second {
    #[ptx::device(import)]
    unsafe extern "C" {
        pub safe fn scale(value: f64) -> f32; //~ ERROR: the declarations of `scale` differ
    }
}

#[kernel]
pub fn run(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = first::scale(1.0) + second::scale(1.0);
    }
}

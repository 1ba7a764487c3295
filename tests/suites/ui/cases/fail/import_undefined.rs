//! An import that nothing defines.
#![no_std]
use ptx::prelude::*;

#[device(import, namespace = "math::detail")]
unsafe extern "C++" {
    safe fn scale(value: f32) -> f32; //~ ERROR: undefined symbol
    safe fn never_called(value: f32) -> f32;
}

#[kernel]
pub fn run(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = scale(1.0);
    }
}

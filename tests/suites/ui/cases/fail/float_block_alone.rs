//! A block with modes in a function without an attribute that would see it.
#![no_std]
use ptx::prelude::*;

pub fn alone(x: f32, y: f32) -> f32 {
    #[ptx::float(fmad = false)]
    //~^ ERROR: custom attributes cannot be applied to expressions
    //~| ERROR: attributes on expressions are experimental
    //~| ERROR: give that `#[ptx::float()]`
    {
        x * y + y
    }
}

#[kernel]
pub fn run(x: f32, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = alone(x, x);
    }
}

//! A slice of the host's memory where the device's is needed.
use ptx::prelude::*;

#[kernel]
pub fn sum(values: &[f32], mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = values.iter().sum();
    }
}

pub fn host(values: &[f32], out: &mut [f32]) {
    let _ = sum(values, out);
    //~^ ERROR: `[f32]` is not device memory of `f32`
    //~| ERROR: `[f32]` is not device memory of `f32` that may be written
    //~| ERROR: cannot be known at compilation time
}

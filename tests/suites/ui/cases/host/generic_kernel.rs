//! A launch of an instance that the device does not have, and arguments of another.
use ptx::prelude::*;

#[kernel(instantiate((f32, 4), (f64, 8)))]
pub fn scale<T: AbiType, const N: usize>(factor: T, values: [T; N], out: DisjointSlice<T>) {
    let _ = (factor, values, out);
}

pub fn host(x: &mut CudaSlice<f32>) {
    let _ = scale::<u8, 4>(2, [2; 4], x); //~ ERROR: no instance `scale::<u8, 4>`
    //~^ ERROR: no instance `scale::<u8, 4>`
    let _ = scale::<f64, 8>(2.0, [2.0; 8], x); //~ ERROR: is not device memory of `f64`
    let _ = scale::<f32, 4>(2.0, [2.0; 8], x); //~ ERROR: mismatched types
}

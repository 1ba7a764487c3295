//! A launch with an argument of another type.
use ptx::prelude::*;

#[kernel]
pub fn scale(factor: f32, count: u32) {
    let _ = (factor, count);
}

pub fn host() {
    let _ = scale(2.0, "many"); //~ ERROR: mismatched types
}

//! A launch with an argument too few.
use ptx::prelude::*;

#[kernel]
pub fn scale(factor: f32, count: u32) {
    let _ = (factor, count);
}

pub fn host() {
    let _ = scale(2.0); //~ ERROR: takes 2 arguments but 1 argument was supplied
}

//! Modes on what is no function and has none.
#![no_std]
use ptx::prelude::*;

#[ptx::float(ftz = true)]
pub struct Unit; //~ ERROR: stands before a function with a body

#[ptx::float(ftz = true)]
pub static COUNT: u32 = 1; //~ ERROR: stands before a function with a body

#[ptx::float(ftz = true)]
pub const HALF: f32 = 0.5; //~ ERROR: stands before a function with a body

#[ptx::float(ftz = true)]
pub use core::f32::consts; //~ ERROR: stands before a function with a body

#[ptx::float(ftz = true)]
pub trait Area { //~ ERROR: no function of this trait has a body
    #[ptx::float(ftz = true)]
    fn area(&self) -> f32; //~ ERROR: in each `impl` block
}

#[ptx::float(ftz = true)]
unsafe extern "C" { //~ ERROR: give nvcc its options
    pub safe fn outside(x: f32) -> f32;
}

#[device(import)]
unsafe extern "C" {
    #[ptx::float(ftz = true)] //~ ERROR: give nvcc its options
    pub safe fn imported(x: f32) -> f32;
}

#[ptx::float(ftz = true)]
pub const fn constant(x: f32) -> f32 { //~ ERROR: a `const fn` cannot have modes
    x * x
}

#[ptx::float(ftz = true)]
pub async fn future(x: f32) -> f32 { //~ ERROR: an `async fn` cannot have modes
    x * x
}

#[ptx::float(ftz = true)]
impl Unit {
    pub const fn new() -> Self { //~ ERROR: a `const fn` cannot have modes
        Self
    }
}

//! A tuple as a kernel parameter.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(pair: (u32, f32)) {} //~ ERROR: has no place in the device ABI

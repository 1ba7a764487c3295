//! A tuple as a kernel parameter.
#![no_std]
use ptx::prelude::*;

#[kernel] //~ ERROR: cannot be a kernel parameter
pub fn run(pair: (u32, f32)) {} //~ ERROR: cannot be a kernel parameter

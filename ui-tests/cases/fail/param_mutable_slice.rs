//! A mutable slice as a kernel parameter: every thread would hold it.
#![no_std]
use ptx::prelude::*;

#[kernel] //~ ERROR: cannot be a kernel parameter
pub fn run(values: &mut [f32]) {} //~ ERROR: cannot be a kernel parameter

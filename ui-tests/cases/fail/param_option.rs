//! An enum of the standard library as a kernel parameter.
#![no_std]
use ptx::prelude::*;

#[kernel] //~ ERROR: cannot be a kernel parameter
pub fn run(limit: Option<u32>) {} //~ ERROR: cannot be a kernel parameter

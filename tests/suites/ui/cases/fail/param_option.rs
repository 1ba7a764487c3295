//! An enum of the standard library as a kernel parameter.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(limit: Option<u32>) {} //~ ERROR: has no place in the device ABI

//! Launch bounds that no GPU has.
#![no_std]
use ptx::prelude::*;

#[kernel(launch_bounds(0))] //~ ERROR: 1024
pub fn zero() {}

#[kernel(launch_bounds(2048))] //~ ERROR: 1024
pub fn many() {}

#[kernel(launch_bounds("all"))] //~ ERROR: mismatched types
pub fn text() {}

#[kernel(lunch_bounds(256))] //~ ERROR: launch_bounds
pub fn typo() {}

#[kernel(max_registers = 999)] //~ ERROR: 255
pub fn registers() {}

#[kernel(launch_bounds)] //~ ERROR: as in `launch_bounds(256)`
pub fn none() {}

//! A trait object as a kernel parameter: its table of functions is the host's.
#![no_std]
use ptx::prelude::*;

#[kernel] //~ ERROR: has no defined device layout
pub fn run(job: &dyn Fn(u32) -> u32) {} //~ ERROR: has no defined device layout
//~^ ERROR: has no defined device layout
//~^^ ERROR: cannot be a kernel parameter

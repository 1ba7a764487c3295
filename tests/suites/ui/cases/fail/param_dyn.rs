//! A trait object as a kernel parameter: its table of functions is the host's.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(job: &dyn Fn(u32) -> u32) {} //~ ERROR: vtable

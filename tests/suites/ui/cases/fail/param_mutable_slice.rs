//! A mutable slice as a kernel parameter: every thread would hold it.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(values: &mut [f32]) {} //~ ERROR: DisjointSlice

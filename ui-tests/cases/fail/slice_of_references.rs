//! A slice of references: the host has no device references to put there.
#![no_std]
use ptx::prelude::*;

#[kernel] //~ ERROR: cannot be a kernel parameter
pub fn run(rows: &[&[f32]]) {} //~ ERROR: cannot be a kernel parameter

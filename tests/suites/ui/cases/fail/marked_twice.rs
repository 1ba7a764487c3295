//! A function with two of our attributes.
#![no_std]
use ptx::prelude::*;

#[kernel]
#[ptx::kernel] //~ ERROR: `#[kernel]` stands here twice
pub fn twice() {}

#[kernel]
#[device(export)] //~ ERROR: not both
pub fn both() {}

#[device(export)]
#[kernel] //~ ERROR: not both
pub fn reverse() {}

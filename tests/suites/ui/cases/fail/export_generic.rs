//! An exported function with type parameters.
#![no_std]
use ptx::prelude::*;

#[device(export)]
pub fn twice<T>(value: u32) -> u32 { //~ ERROR: cannot have type parameters
    value * 2
}

#[device(export = "C++")]
pub fn times<const N: u32>(value: u32) -> u32 { //~ ERROR: cannot have const parameters
    value * N
}

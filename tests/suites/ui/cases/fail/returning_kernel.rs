//! A kernel that returns something: there is nobody to take it.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(value: u32) -> u32 { //~ ERROR: return
    value
}

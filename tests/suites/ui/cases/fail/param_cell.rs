//! A shared reference to something that changes.
#![no_std]
use core::cell::Cell;
use ptx::prelude::*;

#[kernel]
pub fn run(counter: &Cell<u32>) {} //~ ERROR: has no place in the device ABI

//! A generic kernel: there is no one symbol for it.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run<T: Copy>(value: T) {} //~ ERROR: generic

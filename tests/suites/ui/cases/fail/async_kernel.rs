//! An `async` kernel.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub async fn run(value: u32) {} //~ ERROR: async

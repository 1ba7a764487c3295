//! An exported `async` function.
#![no_std]
use ptx::prelude::*;

#[device(export)]
pub async fn wait(value: u32) -> u32 { //~ ERROR: knows no futures
    value
}

//! A variadic definition, and a variadic import.
#![no_std]
use ptx::prelude::*;

#[device(export)]
pub unsafe fn print(format: *const u8, _: ...) {} //~ ERROR: fixed number of parameters

#[device(import)]
unsafe extern "C" {
    fn printf(format: *const u8, ...) -> i32; //~ ERROR: variadic
}

//! A kernel that returns `!`: one mistake, one error.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run() -> ! { //~ ERROR: a kernel returns nothing
    loop {}
}

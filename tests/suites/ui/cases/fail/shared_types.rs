//! What can be a shared object, and lie in one.
#![no_std]
use ptx::prelude::*;
use ptx::shared::SharedTile;

#[kernel]
pub fn number(#[shared] a: u32) { //~ ERROR: `u32` cannot be a `#[shared]` parameter
    let _ = a; //~^ ERROR: `u32` cannot be a `#[shared]` parameter
}

#[kernel]
pub fn passed(a: SharedTile<[u32; 4]>) { //~ ERROR: has no place in the device ABI
    let _ = a;
}

#[kernel]
pub fn length_twice(#[shared(dynamic)] a: SharedTile<[u32; 4]>) { //~ ERROR: cannot be a `#[shared(dynamic)]` parameter
    let _ = a;
}

pub struct Conditions(SharedTile<'static, [bool; 4]>); //~ ERROR: `bool` cannot be an element of a shared object

pub struct References(SharedTile<'static, [&'static u32; 4]>); //~ ERROR: cannot be an element of a shared object

pub struct Single(SharedTile<'static, f32>); //~ ERROR: `f32` cannot lie in a shared object

//! What `#[ptx::constant]` and `#[ptx::global]` refuse: other types, statics without a value, `static mut`, values that not
//! all bits are.
#![no_std]
use ptx::prelude::*;
use ptx::{Constant, Global};

#[ptx::global]
static NUMBER: u32 = 3; //~ ERROR: a global static has the type

#[ptx::global]
static EMPTY: Global<u32>; //~ ERROR: a global static has a value

#[ptx::constant]
static mut CHANGED: Constant<u32> = Constant::new(3); //~ ERROR: not `static mut`

#[ptx::global]
static CHAR: Global<char> = Global::new('a'); //~ ERROR: cannot stand beside bit-fields

#[ptx::constant]
static STR: Constant<&str> = Constant::new("a"); //~ ERROR: has no defined device layout

#[kernel]
pub fn nothing() {}

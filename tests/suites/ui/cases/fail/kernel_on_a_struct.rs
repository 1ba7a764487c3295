//! `#[kernel]` on something that is no function.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub struct Run; //~ ERROR: function

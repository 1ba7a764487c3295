//! An array by value behind a name, which only the compiler sees.
#![no_std]
use ptx::prelude::*;

pub type Row = [f32; 4];

#[device(export)]
pub fn sum(row: Row) -> f32 { //~ ERROR: is an array by value
    row[0]
}

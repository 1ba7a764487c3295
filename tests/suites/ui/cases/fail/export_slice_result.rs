//! A slice and an array as results, an array as parameter.
#![no_std]
use ptx::prelude::*;

#[device(export)]
pub fn tail(values: &'static [f32]) -> &'static [f32] { //~ ERROR: two values
    values
}

#[device(export)]
pub fn sum(values: [f32; 4]) -> f32 { //~ ERROR: no array by value
    values[0]
}

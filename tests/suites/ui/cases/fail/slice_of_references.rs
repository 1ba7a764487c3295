//! A slice of references: the host has no device references to put there.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(rows: &[&[f32]]) {} //~ ERROR: `&[f32]` has no defined device layout

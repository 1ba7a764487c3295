//! A kernel parameter whose layout Rust does not fix.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub struct Settings {
    pub name: &'static str,
    pub factor: f32,
}

#[kernel]
pub fn run(settings: Settings) {} //~ ERROR: has no place in the device ABI

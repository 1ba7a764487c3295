//! Types with no defined layout, as parameter and as result.
#![no_std]
use ptx::prelude::*;

pub struct Settings {
    pub level: u32,
}

#[device(export)]
pub fn set(settings: Settings) {} //~ ERROR: has no place in the device ABI

#[device(export)]
pub fn get() -> Option<u32> { //~ ERROR: has no place in the device ABI
    None
}

#[device(import)]
unsafe extern "C" {
    fn load(name: &str) -> u32; //~ ERROR: has no place in the device ABI
    //~^ ERROR: has no defined device layout
}

#[device(export)]
pub fn name(settings: *const Settings) {} //~ ERROR: has no name in C++

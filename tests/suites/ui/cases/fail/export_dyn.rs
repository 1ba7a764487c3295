//! A `dyn` by value and behind a pointer, in a device function and in a struct.
#![no_std]
use ptx::prelude::*;

#[device(export)]
pub fn call(job: dyn Fn(u32) -> u32) -> u32 { //~ ERROR: vtable
    job(1)
}

#[device(export)]
pub fn pick() -> *const dyn Fn(u32) -> u32 { //~ ERROR: vtable
    loop {}
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Job {
    pub run: *const dyn Fn(u32) -> u32, //~ ERROR: vtable
}

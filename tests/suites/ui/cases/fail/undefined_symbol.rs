//! A call of a function that nobody defines.
#![no_std]
use ptx::prelude::*;

unsafe extern "C" {
    safe fn host_function(x: u32) -> u32;
}

fn indirect(x: u32) -> u32 {
    host_function(x) //~ ERROR: host_function
}

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = indirect(*out);
    }
}

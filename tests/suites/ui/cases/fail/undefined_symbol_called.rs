//! A call of a function that nobody defines, below generic, inlined and other functions: the message has every call.
#![no_std]
use ptx::prelude::*;

unsafe extern "C" {
    safe fn host_function(x: u32) -> u32;
}

trait Step {
    fn step(self) -> Self;
}

impl Step for u32 {
    fn step(self) -> Self {
        host_function(self) //~ ERROR: host_function
    }
}

#[inline(never)]
fn twice<T: Step>(x: T) -> T {
    x.step().step()
}

#[inline]
fn all<T: Step + Copy>(values: &mut [T; 3]) {
    values.iter_mut().for_each(|value| *value = twice(*value));
}

#[kernel]
pub fn run(mut out: DisjointSlice<[u32; 3]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        all(out);
    }
}

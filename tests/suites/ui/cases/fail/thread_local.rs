//! A thread-local static of another object.
//@error-in-other-file: `COUNTER` is a thread-local static
#![no_std]
#![feature(thread_local)]
use ptx::prelude::*;

unsafe extern "C" {
    #[thread_local]
    static COUNTER: u32;
}

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        // SAFETY: the case does not come to run.
        *out = unsafe { COUNTER };
    }
}

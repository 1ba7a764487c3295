//! A kernel is no method, and its entry point no function of a generic type.
#![no_std]
use ptx::prelude::*;

pub struct Scale<T>(T);

impl<T: Copy + core::ops::Mul<Output = T>> Scale<T> {
    #[kernel]
    pub fn method(&self, x: f32) {} //~ ERROR: a kernel cannot have `self`

    #[kernel]
    pub fn associated(x: f32) {
        let _ = Self::method; //~ ERROR: cannot stand in an `impl` block
    }

    #[kernel]
    pub fn of_self(x: *const Self) {} //~ ERROR: cannot stand in an `impl` block
}

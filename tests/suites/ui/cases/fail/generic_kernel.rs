//! Generic kernels, and what is wrong with their lists of instances.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run<T: Copy>(value: T) {} //~ ERROR: instantiate(f32, f64)

#[kernel]
pub fn rounds<const N: usize>() {} //~ ERROR: instantiate(16, 32)

#[kernel(instantiate)] //~ ERROR: which instances
pub fn no_list<T: AbiType>(value: T) {}

#[kernel(instantiate())] //~ ERROR: at least one
pub fn empty_list<T: AbiType>(value: T) {}

#[kernel(instantiate(f32))] //~ ERROR: no type and no const parameters
pub fn plain(value: f32) {}

#[kernel(instantiate(4))] //~ ERROR: `T` is a type
pub fn type_is_number<T: AbiType>(value: T) {}

#[kernel(instantiate(f32, 4))] //~ ERROR: 2 arguments
pub fn two<T: AbiType, const N: usize>(value: [T; N]) {}

#[kernel(instantiate((f32, 4, 5)))] //~ ERROR: 2 arguments
pub fn three<T: AbiType, const N: usize>(value: [T; N]) {}

#[kernel(instantiate(f32, f32))] //~ ERROR: given twice
pub fn twice<T: AbiType>(value: T) {}

pub mod a {
    pub use f32 as Real;
}

#[kernel(instantiate(a::Real, a_Real))] //~ ERROR: one symbol
pub fn one_symbol<T: AbiType>(value: T) {}

#[kernel(instantiate(f32))]
pub fn associated<T: Iterator>(value: T::Item) {} //~ ERROR: `<T as Trait>::Item`

#[kernel(instantiate(f32), export = "C++")] //~ ERROR: plain names
pub fn exported<T: AbiType>(value: T) {}

//! Slices and references of a type without `#[derive(AbiType)]`: the message about a slice names the element, whatever holds it.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
pub struct Pixel {
    pub colour: [u8; 3],
}

#[kernel]
pub fn reads(_pixels: &[Pixel]) {} //~ ERROR: `Pixel` has no defined device layout

#[kernel]
pub fn reads_one(_pixel: &Pixel) {} //~ ERROR: `&Pixel` has no place in the device ABI

#[kernel]
pub fn writes(_pixels: DisjointSlice<Pixel>) {} //~ ERROR: `Pixel` has no defined device layout

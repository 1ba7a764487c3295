//! A type beside bit-fields that not any bytes are a value of.
#![no_std]

#[ptx::bitfields]
#[repr(C)]
pub struct Beside {
    #[bits(3)]
    pub a: u32,
    pub b: char, //~ ERROR: cannot stand beside bit-fields
}

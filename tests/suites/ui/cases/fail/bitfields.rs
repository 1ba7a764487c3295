//! Bit-fields that C++ does not have.
#![no_std]

#[ptx::bitfields]
#[repr(C)]
pub struct Widths {
    #[bits(0)] //~ ERROR: length zero
    pub none: u32,
    #[bits(33)] //~ ERROR: too many
    pub many: u32,
    #[bits(9)] //~ ERROR: too many
    pub flag: bool,
    #[bits(3)]
    pub float: f32, //~ ERROR: integer type
    #[bits(three)] //~ ERROR: width in bits
    pub word: u8,
}

#[ptx::bitfields]
pub struct Free { //~ ERROR: repr(C)
    #[bits(3)]
    pub a: u32,
}

#[ptx::bitfields]
#[repr(C, packed)]
pub struct Packed { //~ ERROR: packed
    #[bits(3)]
    pub a: u32,
}

#[ptx::bitfields]
#[repr(C)]
pub struct Generic<T> { //~ ERROR: generic
    #[bits(3)]
    pub a: u32,
    pub b: T,
}

#[ptx::bitfields]
#[repr(C)]
pub struct Without { //~ ERROR: no field has
    pub a: u32,
}

#[ptx::bitfields]
#[repr(C)]
pub enum Variants { //~ ERROR: named fields
    A,
}

#[ptx::bitfields(3)] //~ ERROR: no arguments
#[repr(C)]
pub struct Arguments {
    #[bits(3)]
    pub a: u32,
}

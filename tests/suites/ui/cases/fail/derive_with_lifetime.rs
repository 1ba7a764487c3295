//! `AbiType` on a struct that holds a reference: one mistake, one error.
#![no_std]

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct View<'a> { //~ ERROR: no lifetime parameters
    pub values: &'a [f32],
}

//! `AbiType` on a struct with a member that has no layout.
#![no_std]

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Settings {
    pub name: &'static str, //~ ERROR: has no defined device layout
}

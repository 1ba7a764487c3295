//! `AbiType` on a struct whose layout Rust may choose.
#![no_std]

#[derive(Clone, Copy, ptx::AbiType)]
pub struct Settings { //~ ERROR: repr(C)
    pub factor: f32,
}

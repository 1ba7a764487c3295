//! What a C++ header cannot say.
//@link-arg: --emit=header
#![no_std]
use ptx::prelude::*;

#[device(export)]
pub fn class(a: u32) -> u32 { //~ ERROR: `class` is a keyword of C++
    a
}

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
#[ptx(name = "namespace")]
pub struct Namespace {
    pub a: u32,
}

#[device(export)]
pub fn first(_a: Namespace, _b: outer::Pair) {} //~ ERROR: `namespace` is a keyword of C++

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(C)]
pub struct Pair {
    pub a: u32,
    pub b: f32,
}

pub mod outer {
    #[derive(Clone, Copy, ptx::AbiType)]
    #[repr(C)]
    pub struct Pair {
        pub a: u64,
    }
}

#[device(export)]
pub fn second(_a: Pair) {} //~ ERROR: two types are `Pair` in C++

#[derive(Clone, Copy, ptx::AbiType)]
#[repr(u8)]
pub enum Mode {
    A,
}

// The function pointer's type alone mentions the enum.
#[device(export)]
pub fn third(_f: extern "C" fn(Mode)) {} //~ ERROR: the enum `Mode`

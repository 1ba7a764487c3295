//! What stands in `#[device(..)]`.
#![no_std]
use ptx::prelude::*;

#[device] //~ ERROR: expected `export`
pub fn a() {}

#[device(exprot)] //~ ERROR: expected `export`
pub fn b() {}

#[device(export = "Fortran")] //~ ERROR: language `Fortran`
pub fn c() {}

#[device(export, namespace = "a")] //~ ERROR: no namespace
pub fn d() {}

#[device(export = "C++", namespace = "a::1")] //~ ERROR: not a name in C++
pub fn e() {}

#[device(import)]
pub fn f() {} //~ ERROR: `unsafe extern` block

#[device(import)]
extern "C" { //~ ERROR: must be unsafe
    fn g();
}

#[device(import)]
unsafe extern "C" {
    #[ptx(instantiate(f32))] //~ ERROR: 2 template parameters
    fn h<T, const N: u32>(value: T);
    fn i<T>(value: T); //~ ERROR: instantiate
    static X: u32; //~ ERROR: only functions
}

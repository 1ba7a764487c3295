//! What cannot be a shared or constant static.
#![no_std]
use core::sync::atomic::AtomicU32;

use ptx::Shared;
use ptx::prelude::*;

#[ptx::shared]
static VALUE: Shared<u32> = Shared::new(5); //~ ERROR: shared memory has no value to begin with

#[ptx::shared]
static PLAIN: [u32; 4]; //~ ERROR: a shared static has the type `ptx::Shared<T>`

#[ptx::shared]
static mut MUTABLE: Shared<u32>; //~ ERROR: not `static mut`

#[ptx::shared]
fn function() {} //~ ERROR: stands before a static

#[ptx::constant]
static CHANGING: AtomicU32 = AtomicU32::new(1); //~ ERROR: has no defined device layout

#[ptx::constant]
static EMPTY: [u32; 4]; //~ ERROR: a constant static has a value

#[kernel]
pub fn run(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = PLAIN[0];
    }
}

#[ptx::constant]
static mut CONSTANT: u32 = 1; //~ ERROR: constant memory by the host

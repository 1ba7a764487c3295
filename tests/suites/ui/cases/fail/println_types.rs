//! A type that cannot be printed like that is rustc's error, at the user's argument.
#![no_std]
use ptx::prelude::*;

struct Opaque;

#[kernel]
pub fn run(x: u32, y: f32) {
    ptx::println!("{}", Opaque); //~ ERROR: `Opaque` doesn't implement `Display`
    ptx::println!("{:x}", y); //~ ERROR: LowerHex
    let opaque = Opaque;
    ptx::println!("{opaque:?}"); //~ ERROR: doesn't implement `Debug`
    ptx::println!("{:1$}", x, y); //~ ERROR: mismatched types
}

//! What is wrong with a format string is said in rustc's words, at the user's place; and printf's limits are said.
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn run(x: u32) {
    ptx::println!("{} {}", x); //~ ERROR: 2 positional arguments
    ptx::println!("{}", x, 5); //~ ERROR: argument never used
    ptx::println!("{:y}", x); //~ ERROR: unknown format trait
    ptx::println!("{x"); //~ ERROR: expected `}` but string was terminated
    ptx::println!("{missing}"); //~ ERROR: cannot find value `missing`
    ptx::println!("}", ); //~ ERROR: unmatched `}` found
    ptx::println!(x); //~ ERROR: must be a string literal
    ptx::println!("{a} {}", a = 1, 2); //~ ERROR: positional arguments cannot follow named
    ptx::println!(concat!("{}", "\n"), x); //~ ERROR: must be a string literal
    ptx::println!("a\0b"); //~ ERROR: ends at a NUL
    ptx::println!("{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}", x); //~ ERROR: takes 32 values
}

//! Lines and functions of another crate are in the debug information under its own names.
//@ debug: full
//@ aux-build: lined.rs
#![no_std]
use ptx::prelude::*;

// DWARF: namespace lined
// DWARF: subprogram halved
// DWARF-NEXT: formal_parameter x: f32, line 7, class 6, frame
// LINES: lined.rs:8 0x
// LINES: debug_crates.rs:15 0x
#[kernel]
pub unsafe fn case(x: f32, out: *mut f32) {
    unsafe { *out = lined::halved(x) }
}

//! Blocks that hold variables are scopes of their own, and the same name in two of them is two variables.
//@ debug: full
#![no_std]
use ptx::prelude::*;

// DWARF: subprogram case
// DWARF: lexical_block, code
// DWARF: variable value: u32
// DWARF: lexical_block, code
// DWARF: variable value: f32
#[inline(never)]
fn add(x: u32, y: u32) -> u32 {
    let sum = x + y;
    sum
}

// DWARF: subprogram add: u32, line {{[0-9]+}}, code
// DWARF-NEXT: formal_parameter x: u32, line {{[0-9]+}}, class 6, frame
// DWARF-NEXT: formal_parameter y: u32
// DWARF-NEXT: lexical_block, code
// DWARF-NEXT: variable sum: u32
#[kernel]
pub unsafe fn case(x: u32, out: *mut f32) {
    let value = add(x, 1);
    if value > 2 {
        let value = value as f32 * 0.5;
        unsafe { *out = value }
    }
}

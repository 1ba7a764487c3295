//! `match` on an enum with data.
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
enum Operation {
    Keep,
    Add(u32),
    Shift { by: u32 },
}

fn decode(code: u32) -> Option<Operation> {
    Some(match code & 3 {
        0 => Operation::Keep,
        1 => Operation::Add(code >> 2),
        2 => Operation::Shift { by: code >> 2 & 31 },
        _ => return None,
    })
}

// CHECK-LABEL: .visible .entry interpret(
// CHECK: shl.b32
#[kernel]
pub fn interpret(codes: &[u32], mut out: DisjointSlice<u32>) {
    let Some(out) = out.get_mut(thread::index_1d()) else { return };
    for code in codes {
        match decode(*code) {
            Some(Operation::Keep) => {}
            Some(Operation::Add(n)) => *out = out.wrapping_add(n),
            Some(Operation::Shift { by }) => *out <<= by,
            None => break,
        }
    }
}

//! Structures, tuples, arrays, nested ones, unions and enums without data.
//@ launch: aggregates<<<1, 32>>>(bytes 07 00 00 00 00 00 c0 3f, slice i32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], aggregates::aggregates (pair=..., out=...) at [...]/aggregates.rs:{#break}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: pair = aggregates::Pair {a: 7, b: 1.5}
//@ cuda-gdb-check: out = ptx_device::disjoint::DisjointSlice<i32> {ptr: 0x[...], len: 32, [...]}
//@ cuda-gdb-names: pair out
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: out pairs reference unit bits colour line matrix array newtype tuple copy i
//@ cuda-gdb-command: print pair
//@ cuda-gdb-check: [...] = aggregates::Pair {a: 7, b: 1.5}
//@ cuda-gdb-command: print pair.b
//@ cuda-gdb-check: [...] = 1.5
//@ cuda-gdb-command: print copy
//@ cuda-gdb-check: [...] = aggregates::Pair {a: 7, b: 1.5}
//@ cuda-gdb-command: print tuple
//@ cuda-gdb-check: [...] = (1, 2.5, -3)
//@ cuda-gdb-command: print tuple.2
//@ cuda-gdb-check: [...] = -3
//@ cuda-gdb-command: print tuple.__2
//@ cuda-gdb-check: [...] = -3
//@ cuda-gdb-command: print newtype
//@ cuda-gdb-check: [...] = aggregates::Metres (8.25)
//@ cuda-gdb-command: print newtype.0
//@ cuda-gdb-check: [...] = 8.25
//@ cuda-gdb-command: print array
//@ cuda-gdb-check: [...] = [10, 20, 30]
//@ cuda-gdb-command: print array[2]
//@ cuda-gdb-check: [...] = 30
//@ cuda-gdb-command: print matrix
//@ cuda-gdb-check: [...] = [[1, 2], [3, 4]]
//@ cuda-gdb-command: print matrix[1][0]
//@ cuda-gdb-check: [...] = 3
//@ cuda-gdb-command: print line
//@ cuda-gdb-check: [...] = aggregates::Line {from: aggregates::Pair {a: 7, b: 1.5}, to: aggregates::Pair {a: -1, b: 0.5}, width: 9}
//@ cuda-gdb-command: print line.to.a
//@ cuda-gdb-check: [...] = -1
//@ cuda-gdb-command: print colour
//@ cuda-gdb-check: [...] = aggregates::Green
//@ cuda-gdb-command: print bits.f
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print unit
//@ cuda-gdb-check: [...] = aggregates::Unit
//@ cuda-gdb-command: print *reference
//@ cuda-gdb-check: [...] = aggregates::Pair {a: 7, b: 1.5}
//@ cuda-gdb-command: print reference.a
//@ cuda-gdb-check: [...] = 7
//@ cuda-gdb-command: print pairs
//@ cuda-gdb-check: [...] = [aggregates::Pair {a: 7, b: 1.5}, aggregates::Pair {a: -1, b: 0.5}]
//@ cuda-gdb-command: ptype pair
//@ cuda-gdb-check: type = struct aggregates::Pair {
//@ cuda-gdb-check: a: i32,
//@ cuda-gdb-check: b: f32,
//@ cuda-gdb-check: }
//@ cuda-gdb-command: ptype line
//@ cuda-gdb-check: type = struct aggregates::Line {
//@ cuda-gdb-check: from: aggregates::Pair,
//@ cuda-gdb-check: to: aggregates::Pair,
//@ cuda-gdb-check: width: u8,
//@ cuda-gdb-check: }
//@ cuda-gdb-command: whatis tuple
//@ cuda-gdb-check: type = (u8, f32, i64)
//@ cuda-gdb-command: set var copy.a = 99
//@ cuda-gdb-command: print copy.a
//@ cuda-gdb-check: [...] = 99
#![no_std]
use ptx::AbiType;
use ptx::prelude::*;

#[derive(Clone, Copy, AbiType)]
#[repr(C)]
pub struct Pair {
    pub a: i32,
    pub b: f32,
}

#[derive(Clone, Copy)]
pub struct Line {
    from: Pair,
    to: Pair,
    width: u8,
}

#[derive(Clone, Copy)]
pub struct Metres(f32);

#[derive(Clone, Copy)]
pub struct Unit;

#[derive(Clone, Copy)]
pub enum Colour {
    Red = 1,
    Green = 5,
    Blue = 6,
}

#[derive(Clone, Copy)]
pub union Bits {
    i: i32,
    f: f32,
}

#[kernel]
pub fn aggregates(pair: Pair, mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    let copy = pair;
    let tuple = (1_u8, 2.5_f32, -3_i64);
    let newtype = Metres(8.25);
    let array = [10_i32, 20, 30];
    let matrix = [[1_u16, 2], [3, 4]];
    let line = Line { from: pair, to: Pair { a: -1, b: 0.5 }, width: 9 };
    let colour = [Colour::Red, Colour::Green, Colour::Blue][1];
    let bits = Bits { f: 2.0 };
    let unit = Unit;
    let reference = &line.from;
    let pairs = [pair, line.to];
    if let Some(out) = out.get_mut(i) { // #break
        let _ = unit;
        // SAFETY: any bits are a number.
        let bits = unsafe { bits.i };
        let sum = copy.a + tuple.0 as i32 + newtype.0 as i32 + array[0] + matrix[0][0] as i32 + line.width as i32;
        *out = sum + colour as i32 + bits + reference.a + pairs[0].a + line.from.b as i32;
    }
}

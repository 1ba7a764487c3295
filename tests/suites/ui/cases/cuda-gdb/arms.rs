//! Variables of a `match`'s arms: each is there in its own arm alone.
//@ launch: arms<<<1, 1>>>(u32 0, slice u32 1)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], arms::arms (n=0, out=...) at [...]/arms.rs:{#break}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: v outer inner i
//@ cuda-gdb-command: print v
//@ cuda-gdb-check: [...] = 1
//@ cuda-gdb-command: delete
//@ cuda-gdb-command: tbreak {#arm}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] arms::arms (n=0, out=...) at [...]/arms.rs:{#arm}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: wide found outer inner i
//@ cuda-gdb-command: print found
//@ cuda-gdb-check: [...] = 1
//@ cuda-gdb-command: tbreak {#behind}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] arms::arms (n=0, out=...) at [...]/arms.rs:{#behind}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: out sum wide found outer inner i
//@ cuda-gdb-command: print sum
//@ cuda-gdb-check: [...] = 8
#![no_std]
use ptx::prelude::*;

#[derive(Clone, Copy)]
enum Inner {
    X(u8),
    Y,
    Z,
}

#[derive(Clone, Copy)]
enum Outer {
    I(Inner),
    P,
    Q(Option<Inner>),
}

#[derive(Clone, Copy)]
enum Wide {
    A(u32),
    B { x: u32, y: u32 },
}

#[inline(never)]
fn seven(n: u32) -> u32 {
    n + 7
}

#[kernel]
pub fn arms(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let inner = match n {
        0 => Inner::X(1),
        5 => Inner::Z,
        _ => Inner::Y,
    };
    let outer = match n {
        0 => Outer::I(inner),
        1 => Outer::P,
        _ => Outer::Q(Some(inner)),
    };
    let found = match outer {
        Outer::I(Inner::X(v)) => {
            u32::from(v) // #break
        }
        Outer::Q(Some(Inner::X(v))) => u32::from(v) + 1,
        _ => 2,
    };
    let wide = if n < 5 { Wide::A(n) } else { Wide::B { x: n, y: found } };
    let sum = match wide {
        Wide::A(_) => seven(found), // #arm
        Wide::B { x, y } => x + y,
    };
    if let Some(out) = out.get_mut(i) { // #behind
        *out = sum;
    }
}

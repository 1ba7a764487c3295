//! Memory of the device's heap: a box, a vector, and a reference into it.
//@ launch: boxes<<<1, 1>>>(u32 7, slice u32 1)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], boxes::boxes (n=7, out=...) at [...]/boxes.rs:{#break}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: mutable changed first vector boxed i
//@ cuda-gdb-unordered: changed = 42
//@ cuda-gdb-command: print *boxed
//@ cuda-gdb-check: [...] = 8
//@ cuda-gdb-command: print vector.len
//@ cuda-gdb-check: [...] = 3
//@ cuda-gdb-command: print *first
//@ cuda-gdb-check: [...] = 7
//@ cuda-gdb-command: print *mutable
//@ cuda-gdb-check: [...] = 42
//@ cuda-gdb-command: print *first@3
//@ cuda-gdb-check: [...] = [7, 21, 30]
#![no_std]
extern crate alloc;

use alloc::boxed::Box;
use alloc::vec;
use ptx::prelude::*;

#[kernel]
pub fn boxes(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let boxed = Box::new(n + 1);
    let mut vector = vec![n, 20, 30];
    vector[1] += 1;
    let first = &vector[0];
    let mut changed = 40;
    let mutable = &mut changed;
    *mutable += 2;
    let sum = *boxed + *first + *mutable; // #break
    if let Some(out) = out.get_mut(i) {
        *out = sum + vector[2];
    }
}

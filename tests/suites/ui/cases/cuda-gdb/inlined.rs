//! Inlined functions: stepping into them and out, and their frames with arguments and variables.
//@ launch: inlined<<<1, 32>>>(u32 4, slice u32 32)
//@ cuda-gdb-command: break inlined.rs:{#call}
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], inlined::inlined (n=4, out=...) at [...]/inlined.rs:{#call}
//@ cuda-gdb-command: step
//@ cuda-gdb-check: inlined::outer (a=4) at [...]/inlined.rs:{#outer}
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#nested}[...]
//@ cuda-gdb-command: step
//@ cuda-gdb-check: inlined::inner (a=14) at [...]/inlined.rs:{#inner}
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#inside}[...]
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  inlined::inner (a=14) at [...]/inlined.rs:{#inside}
//@ cuda-gdb-check: #1  inlined::outer (a=4) at [...]/inlined.rs:{#nested}
//@ cuda-gdb-check: #2  inlined::inlined (n=4, out=...) at [...]/inlined.rs:{#call}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: a = 14
//@ cuda-gdb-names: a
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: b = 114
//@ cuda-gdb-names: b
//@ cuda-gdb-command: up
//@ cuda-gdb-check: #1  inlined::outer (a=4) at [...]
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: a = 4
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: c = 14
//@ cuda-gdb-names: c
//@ cuda-gdb-command: up
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: i
//@ cuda-gdb-command: tbreak {#after}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] inlined::inlined (n=4, out=...) at [...]/inlined.rs:{#after}
//@ cuda-gdb-command: print result
//@ cuda-gdb-check: [...] = 229
#![no_std]
use ptx::prelude::*;

#[inline(always)]
fn inner(a: u32) -> u32 {
    let b = a + 100; // #inner
    b * 2 // #inside
}

#[inline(always)]
fn outer(a: u32) -> u32 {
    let c = a + 10; // #outer
    inner(c) + 1 // #nested
}

#[kernel]
pub fn inlined(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let result = outer(n); // #call
    if let Some(out) = out.get_mut(i) { // #after
        *out = result;
    }
}

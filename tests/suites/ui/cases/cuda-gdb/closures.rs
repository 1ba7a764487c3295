//! Closures: what they capture, by reference and by value, inside them and outside.
//@ launch: closures<<<1, 32>>>(i32 10, slice i32 32)
//@ cuda-gdb-command: break closures.rs:{#reference}
//@ cuda-gdb-command: break closures.rs:{#value}
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], closures::closures::{closure#0} (x=2) at [...]/closures.rs:{#reference}
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  closures::closures::{closure#0} (x=2) at [...]/closures.rs:{#reference}
//@ cuda-gdb-check: #1  [...] in closures::apply<closures::closures::{closure_env#0}> (f=..., x=2) at [...]/closures.rs:{#apply}
//@ cuda-gdb-check: #2  [...] in closures::closures (offset=10, out=...) at [...]/closures.rs:{#first}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: x = 2
//@ cuda-gdb-command: info locals
//@ cuda-gdb-unordered: base = @0x[...]: 11
//@ cuda-gdb-unordered: sum = 13
//@ cuda-gdb-names: sum base
//@ cuda-gdb-command: print x
//@ cuda-gdb-check: [...] = 2
//@ cuda-gdb-command: print base
//@ cuda-gdb-check: [...]: 11
//@ cuda-gdb-command: print base + 1
//@ cuda-gdb-check: [...] = 12
//@ cuda-gdb-command: up
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: f = closures::closures::{closure_env#0} {_ref__base: 0x[...]}
//@ cuda-gdb-check: x = 2
//@ cuda-gdb-command: print *f._ref__base
//@ cuda-gdb-check: [...] = 11
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], closures::closures::{closure#1} (x=5) at [...]/closures.rs:{#value}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-unordered: factor = @0x[...]: 3
//@ cuda-gdb-unordered: base = @0x[...]: 11
//@ cuda-gdb-unordered: product = 26
//@ cuda-gdb-names: product factor base
//@ cuda-gdb-command: print factor
//@ cuda-gdb-check: [...]: 3
//@ cuda-gdb-command: frame 2
//@ cuda-gdb-check: #2  [...] in closures::closures (offset=10, out=...) at [...]/closures.rs:{#second}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: first by_value by_reference factor base i
//@ cuda-gdb-unordered: first = 13
//@ cuda-gdb-command: print by_reference
//@ cuda-gdb-check: [...] = closures::closures::{closure_env#0} {_ref__base: 0x[...]}
//@ cuda-gdb-command: print by_value
//@ cuda-gdb-check: [...] = closures::closures::{closure_env#1} {factor: 3, base: 11}
//@ cuda-gdb-command: print by_value.factor
//@ cuda-gdb-check: [...] = 3
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn apply<F: Fn(i32) -> i32>(f: F, x: i32) -> i32 {
    f(x) // #apply
}

#[kernel]
pub fn closures(offset: i32, mut out: DisjointSlice<i32>) {
    let i = thread::index_1d();
    let base = offset + 1;
    let factor = 3_i16;
    let by_reference = |x: i32| {
        let sum = x + base;
        sum
    }; // #reference
    let by_value = move |x: i32| {
        let product = x * factor as i32 + base;
        product
    }; // #value
    let first = apply(by_reference, 2); // #first
    let second = apply(by_value, 5); // #second
    if let Some(out) = out.get_mut(i) {
        *out = first + second;
    }
}

//! Breakpoints by function and by line; step, next, finish, until and advance stop at the lines one expects.
//@ launch: stepping<<<1, 32>>>(u32 5, slice u32 32)
//@ cuda-gdb-command: break stepping::stepping
//@ cuda-gdb-command: break stepping::double
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], stepping::stepping (n=5, out=...) at [...]/stepping.rs:{#first}
//@ cuda-gdb-command: frame
//@ cuda-gdb-check: #0  stepping::stepping (n=5, out=...) at [...]/stepping.rs:{#first}
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#second}[...]
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#call}[...]
//@ cuda-gdb-command: step
//@ cuda-gdb-check: stepping::add (a=6, b=10) at [...]/stepping.rs:{#add}
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#added}[...]
//@ cuda-gdb-command: finish
//@ cuda-gdb-check: [...] in stepping::stepping (n=5, out=...) at [...]/stepping.rs:{#call}
//@ cuda-gdb-check: Value returned is $1 = 16
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#after}[...]
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], stepping::double (a=16) at [...]/stepping.rs:{#double}
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  stepping::double (a=16) at [...]/stepping.rs:{#double}
//@ cuda-gdb-check: #1  [...] in stepping::stepping (n=5, out=...) at [...]/stepping.rs:{#after}
//@ cuda-gdb-check: #2  [...]<<<(1,1,1),(32,1,1)>>> (n=5, out=...) at [...]/stepping.rs:[...]
//@ cuda-gdb-command: until {#more}
//@ cuda-gdb-check: stepping::double (a=16) at [...]/stepping.rs:{#more}
//@ cuda-gdb-command: print twice
//@ cuda-gdb-check: [...] = 32
//@ cuda-gdb-command: next
//@ cuda-gdb-check: {#doubled}[...]
//@ cuda-gdb-command: finish
//@ cuda-gdb-check: Value returned is [...] = 33
//@ cuda-gdb-command: advance {#last}
//@ cuda-gdb-check: stepping::stepping (n=5, out=...) at [...]/stepping.rs:{#last}
//@ cuda-gdb-command: print z
//@ cuda-gdb-check: [...] = 33
//@ cuda-gdb-command: delete
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [Inferior 1 (process [...]) exited normally]
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn add(a: u32, b: u32) -> u32 {
    let sum = a + b; // #add
    sum
} // #added

#[inline(never)]
fn double(a: u32) -> u32 {
    let twice = a * 2; // #double
    let more = twice + 1; // #more
    more
} // #doubled

#[kernel]
pub fn stepping(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d(); // #first
    let x = n + 1; // #second
    let y = add(x, 10); // #call
    let z = double(y); // #after
    if let Some(out) = out.get_mut(i) { // #last
        *out = z;
    }
}

//! The frames of a recursive function, with each one's arguments and variables.
//@ launch: frames<<<1, 32>>>(u32 4, slice u32 32)
//@ cuda-gdb-command: break frames.rs:{#bottom}
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], frames::factorial (n=1) at [...]/frames.rs:{#bottom}
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  frames::factorial (n=1) at [...]/frames.rs:{#bottom}
//@ cuda-gdb-check: #1  [...] in frames::factorial (n=2) at [...]/frames.rs:{#deeper}
//@ cuda-gdb-check: #2  [...] in frames::factorial (n=3) at [...]/frames.rs:{#deeper}
//@ cuda-gdb-check: #3  [...] in frames::factorial (n=4) at [...]/frames.rs:{#deeper}
//@ cuda-gdb-check: #4  [...] in frames::frames (n=4, out=...) at [...]/frames.rs:{#call}
//@ cuda-gdb-check: #5  [...]<<<(1,1,1),(32,1,1)>>> (n=4, out=...) at [...]/frames.rs:[...]
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: n = 1
//@ cuda-gdb-names: n
//@ cuda-gdb-command: info locals
//@ cuda-gdb-unordered: below = 0
//@ cuda-gdb-command: up
//@ cuda-gdb-check: #1  [...] in frames::factorial (n=2) at [...]/frames.rs:{#deeper}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: n = 2
//@ cuda-gdb-names: n
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: below = 1
//@ cuda-gdb-names: below
//@ cuda-gdb-command: frame 3
//@ cuda-gdb-check: #3  [...] in frames::factorial (n=4) at [...]/frames.rs:{#deeper}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: n = 4
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: below = 3
//@ cuda-gdb-names: below
//@ cuda-gdb-command: frame 4
//@ cuda-gdb-command: info locals
//@ cuda-gdb-check: i = ptx_device::index::ThreadIndex {value: 0, [...]}
//@ cuda-gdb-names: i
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: n = 4
//@ cuda-gdb-names: n out
//@ cuda-gdb-command: frame 5
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: n = 4
//@ cuda-gdb-names: n out
//@ cuda-gdb-command: tbreak frames.rs:{#result}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] frames::frames (n=4, out=...) at [...]/frames.rs:{#result}
//@ cuda-gdb-command: print product
//@ cuda-gdb-check: [...] = 24
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn factorial(n: u32) -> u32 {
    let below = n - 1;
    if below == 0 {
        return n; // #bottom
    }
    let rest = factorial(below); // #deeper
    n * rest
}

#[kernel]
pub fn frames(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let product = factorial(n); // #call
    if let Some(out) = out.get_mut(i) { // #result
        *out = product;
    }
}

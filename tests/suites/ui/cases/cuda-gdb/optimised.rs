//! A release build with line tables: breakpoints by line stop, and the frames of inlined functions have their lines.
//@ profile: release
//@ debug-level: line-tables
//@ launch: optimised<<<1, 32>>>(slice f32 32, slice f32 32)
//@ cuda-gdb-command: set cuda break_on_launch application
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit application kernel entry function breakpoint, optimised<<<(1,1,1),(32,1,1)>>> () at [...]
//@ cuda-gdb-command: set cuda break_on_launch none
//@ cuda-gdb-command: info line optimised.rs:{#body}
//@ cuda-gdb-check: Line {#body} of "[...]/optimised.rs" starts at address 0x[...] <optimised+[...]> and ends at 0x[...]
//@ cuda-gdb-command: tbreak optimised.rs:{#body}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Temporary breakpoint 1, optimised<<<(1,1,1),(32,1,1)>>> () at [...]/optimised.rs:{#body}[...]
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0  optimised<<<(1,1,1),(32,1,1)>>> () at [...]/optimised.rs:{#body}[...]
//@ cuda-gdb-command: tbreak optimised.rs:{#square}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...]/optimised.rs:{#square}[...]
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: #0 [...]/optimised.rs:{#square}[...]
//@ cuda-gdb-check: #1 [...]/optimised.rs:{#body}[...]
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn polynomial(x: f32) -> f32 {
    let square = x * x; // #square
    square * x + square + 1.0
}

#[kernel]
pub fn optimised(input: &[f32], mut out: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let at = i.get();
    if let Some(out) = out.get_mut(i) {
        *out = polynomial(input[at]); // #body
    }
}

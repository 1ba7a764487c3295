//! Loops: a breakpoint that is hit again and again, `ignore`, a change of a variable, and variables of inner blocks.
//@ launch: loops<<<1, 1>>>(u32 6, slice u32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], loops::loops (n=6, out=...) at [...]/loops.rs:{#break}
//@ cuda-gdb-command: print index
//@ cuda-gdb-check: [...] = 0
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint 1, [...]
//@ cuda-gdb-command: print index
//@ cuda-gdb-check: [...] = 1
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: square index iter total i
//@ cuda-gdb-unordered: square = 1
//@ cuda-gdb-unordered: total = 1
//@ cuda-gdb-unordered: iter = core::ops::range::Range<u32> {start: 2, end: 6}
//@ cuda-gdb-command: print square
//@ cuda-gdb-check: [...] = 1
//@ cuda-gdb-command: ignore 1 2
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Breakpoint 1, [...]
//@ cuda-gdb-command: print index
//@ cuda-gdb-check: [...] = 4
//@ cuda-gdb-command: print total
//@ cuda-gdb-check: [...] = 37
//@ cuda-gdb-command: set var total = 1000
//@ cuda-gdb-command: delete
//@ cuda-gdb-command: tbreak {#end}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] loops::loops (n=6, out=...) at [...]/loops.rs:{#end}
//@ cuda-gdb-command: print total
//@ cuda-gdb-check: [...] = 1041
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: out left total i
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn loops(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut total = 0;
    for index in 0..n {
        let square = index * index;
        if square % 2 == 0 {
            let index = square + 1;
            total += index;
        }
        total += square; // #break
    }
    let mut left = n;
    while left > 0 {
        left -= 1;
    }
    if let Some(out) = out.get_mut(i) { // #end
        *out = total + left;
    }
}

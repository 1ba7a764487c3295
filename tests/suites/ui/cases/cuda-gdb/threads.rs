//! A breakpoint with a condition on one thread, the focus on others, and a watch.
//@ launch: threads<<<2, 64>>>(u32 3, slice u32 128)
//@ cuda-gdb-command: break threads.rs:{#here} if t == 37 && block == 1
//@ cuda-gdb-command: run
//@ cuda-gdb-check: [Switching focus to CUDA kernel 0, grid [...], block (1,0,0), thread (37,0,0), [...]]
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], threads::threads (n=3, out=...) at [...]/threads.rs:{#here}
//@ cuda-gdb-command: print t
//@ cuda-gdb-check: [...] = 37
//@ cuda-gdb-command: print block
//@ cuda-gdb-check: [...] = 1
//@ cuda-gdb-command: print value
//@ cuda-gdb-check: [...] = 370
//@ cuda-gdb-command: cuda thread
//@ cuda-gdb-check: thread (37,0,0)
//@ cuda-gdb-command: info cuda kernels
//@ cuda-gdb-check: *[...]threads(n=3, out=...)
//@ cuda-gdb-command: cuda thread (35,0,0)
//@ cuda-gdb-check: [Switching focus to CUDA kernel 0, grid [...], block (1,0,0), thread (35,0,0), [...]]
//@ cuda-gdb-command: print t
//@ cuda-gdb-check: [...] = 35
//@ cuda-gdb-command: cuda thread (37,0,0)
//@ cuda-gdb-command: set can-use-hw-watchpoints 0
//@ cuda-gdb-command: watch value
//@ cuda-gdb-check: Watchpoint 2: value
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Watchpoint 2: value
//@ cuda-gdb-check: Old value = 370
//@ cuda-gdb-check: New value = 373
//@ cuda-gdb-check: threads::threads (n=3, out=...) at [...]/threads.rs:{#twice}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: CUDA thread hit Watchpoint 2: value
//@ cuda-gdb-check: Old value = 373
//@ cuda-gdb-check: New value = 746
//@ cuda-gdb-command: info watchpoints
//@ cuda-gdb-check: 2[...]watchpoint[...]value
//@ cuda-gdb-check: [...]already hit 2 times
//@ cuda-gdb-command: delete
//@ cuda-gdb-command: tbreak threads.rs:{#last}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] threads::threads (n=3, out=...) at [...]/threads.rs:{#last}
//@ cuda-gdb-command: print value
//@ cuda-gdb-check: [...] = 745
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn threads(n: u32, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let t = thread::thread_idx_x();
    let block = thread::block_idx_x();
    let mut value = t * 10;
    value += n; // #here
    value *= 2; // #twice
    value -= block;
    if let Some(out) = out.get_mut(i) { // #last
        *out = value;
    }
}

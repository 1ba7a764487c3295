//! A breakpoint with a condition by CUDA's own indices.
//@ launch: condition<<<2, 64>>>(slice u32 128)
//@ cuda-gdb-command: set language c
//@ cuda-gdb-command: break condition.rs:{#here} if threadIdx.x == 5 && blockIdx.x == 1
//@ cuda-gdb-command: run
//@ cuda-gdb-check: [Switching focus to CUDA kernel 0, grid [...], block (1,0,0), thread (5,0,0), [...]]
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], condition::condition (out=...) at [...]/condition.rs:{#here}
//@ cuda-gdb-command: set language auto
//@ cuda-gdb-command: print t
//@ cuda-gdb-check: [...] = 69
//@ cuda-gdb-command: set language c
//@ cuda-gdb-command: print threadIdx
//@ cuda-gdb-check: [...] = {x = 5, y = 0, z = 0}
//@ cuda-gdb-command: print blockDim.x
//@ cuda-gdb-check: [...] = 64
#![no_std]
use ptx::prelude::*;

#[kernel]
pub fn condition(mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let t = i.get();
    if let Some(out) = out.get_mut(i) { // #here
        *out = t as u32;
    }
}

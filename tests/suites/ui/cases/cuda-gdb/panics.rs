//! A panic stops the debugger, and the frames lead from the assertion to the line that panicked.
//@ launch: panics<<<1, 32>>>(slice u32 8, slice u32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-unordered: [...]panics.rs:{#fails}: [...]index out of bounds: the len is 8 but the index is 8[...]
//@ cuda-gdb-unordered: [...]received signal CUDA_EXCEPTION_12, Warp Assert.
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: [...] in panics::pick (values=..., at=8) at [...]/panics.rs:{#fails}
//@ cuda-gdb-check: [...] in panics::panics (values=..., out=...) at [...]/panics.rs:{#call}
//@ cuda-gdb-command: frame function panics::pick
//@ cuda-gdb-check: [...] in panics::pick (values=..., at=8) at [...]/panics.rs:{#fails}
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: values = &[u32] [0, 1, 2, 3, 4, 5, 6, 7]
//@ cuda-gdb-check: at = 8
//@ cuda-gdb-names: values at
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn pick(values: &[u32], at: usize) -> u32 {
    values[at] // #fails
}

#[kernel]
pub fn panics(values: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let at = i.get();
    let picked = pick(values, at); // #call
    if let Some(out) = out.get_mut(i) {
        *out = picked;
    }
}

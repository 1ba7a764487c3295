//! A panic with a formatted message: the driver prints it, and the debugger shows its frames.
//@ launch: messages<<<1, 1>>>(u32 7)
//@ cuda-gdb-command: run
//@ cuda-gdb-unordered: [...]messages.rs:{#fails}: [...]7 is more than 5[...]
//@ cuda-gdb-unordered: [...]received signal CUDA_EXCEPTION_12, Warp Assert.
//@ cuda-gdb-command: backtrace
//@ cuda-gdb-check: [...] in messages::check (n=7) at [...]/messages.rs:{#fails}
//@ cuda-gdb-check: [...] in messages::messages (n=7) at [...]/messages.rs:{#call}
//@ cuda-gdb-command: frame function messages::check
//@ cuda-gdb-command: info args
//@ cuda-gdb-check: n = 7
//@ cuda-gdb-names: n
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn check(n: u32) -> u32 {
    if n > 5 {
        panic!("{n} is more than 5"); // #fails
    }
    n
}

#[kernel]
pub fn messages(n: u32) {
    check(n); // #call
}

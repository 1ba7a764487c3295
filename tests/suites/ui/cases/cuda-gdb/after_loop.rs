//! Variables that are alive behind a loop which can leave the function, as another place behind it can: the two share the
//! code that does.
//@ launch: after_loop<<<1, 1>>>(u32 4, slice u32 32)
//@ cuda-gdb-command: run
//@ cuda-gdb-check: CUDA thread hit Breakpoint [...], after_loop::sum_of_squares (count=4) at [...]/after_loop.rs:{#break}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: square i iter sum
//@ cuda-gdb-command: delete
//@ cuda-gdb-command: tbreak {#behind}
//@ cuda-gdb-command: continue
//@ cuda-gdb-check: [...] after_loop::sum_of_squares (count=4) at [...]/after_loop.rs:{#behind}
//@ cuda-gdb-command: info locals
//@ cuda-gdb-names: twice next sum
//@ cuda-gdb-command: print sum
//@ cuda-gdb-check: [...] = 14
//@ cuda-gdb-command: print next
//@ cuda-gdb-check: [...] = 15
//@ cuda-gdb-command: print twice
//@ cuda-gdb-check: [...] = 30
#![no_std]
use ptx::prelude::*;

#[inline(never)]
fn sum_of_squares(count: u32) -> u32 {
    let mut sum = 0;
    for i in 0..count {
        let square = i * i;
        if square > 1000 {
            return 0;
        }
        sum += square; // #break
    }
    let next = sum + 1;
    let twice = next * 2;
    if next > 5000 || twice > 5000 { // #behind
        return 0;
    }
    sum + twice
}

#[kernel]
pub fn after_loop(count: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = sum_of_squares(count);
    }
}

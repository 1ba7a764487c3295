//! `dyn` calls go through a table of function pointers.
#![no_std]
use ptx::prelude::*;

trait Step {
    fn next(&self, x: u32) -> u32;
}

struct Add(u32);
struct Multiply(u32);

impl Step for Add {
    #[inline(never)]
    fn next(&self, x: u32) -> u32 {
        x.wrapping_add(self.0)
    }
}

impl Step for Multiply {
    #[inline(never)]
    fn next(&self, x: u32) -> u32 {
        x.wrapping_mul(self.0)
    }
}

// CHECK: .func {{.*}}next
// CHECK-LABEL: .visible .entry collatz(
// CHECK: call
#[kernel]
pub fn collatz(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let steps: [&dyn Step; 2] = [&Multiply(3), &Add(7)];
        for _ in 0..*out % 16 {
            *out = steps[(*out % 2) as usize].next(*out);
        }
    }
}

//! Functions that a kernel can come back to look for the end of the stack; kernels without recursion have nothing of it.
#![no_std]
use core::hint::black_box;

use ptx::prelude::*;

// CHECK: .weak .const .align 8 .b8 __ptx_stack[24]

// CHECK-LABEL: .func{{.*}}down
// CHECK: stacksave.u64 [[POINTER:%rd[0-9]+]];
// CHECK: ld.const.b64 [[LEAST:%rd[0-9]+]], [__ptx_stack];
// CHECK-NEXT: setp.lt.u64 [[LOW:%p[0-9]+]], [[POINTER]], [[LEAST]];
// CHECK-NEXT: @[[LOW]] bra
#[inline(never)]
fn down(depth: u32, seed: u32) -> u32 {
    let here = black_box([seed; 8]);
    let below = if depth == 0 { seed } else { down(depth - 1, seed + 1) };
    here.iter().fold(below, |sum, number| sum ^ number)
}

#[inline(never)]
fn leaf(seed: u32) -> u32 {
    black_box([seed; 8]).iter().sum()
}

// CHECK-LABEL: .visible .entry a_recursion(
// CHECK-NOT: stacksave
// CHECK: ret;
#[kernel]
pub fn a_recursion(depth: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = down(depth, 1);
    }
}

// CHECK-LABEL: .visible .entry b_calls(
// CHECK-NOT: stacksave
// CHECK: ret;
#[kernel]
pub fn b_calls(seed: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = leaf(seed);
    }
}

//! The calls that were inlined are in `.loc`, each under the place of its call, through two functions.
//@ debug: line-tables
#![no_std]
use ptx::prelude::*;

#[inline(always)]
fn inner(x: u32) -> u32 {
    x & 0xf0f0
}

#[inline(always)]
fn outer(x: u32) -> u32 {
    inner(x) ^ 5
}

// CHECK: .version 7.2
// CHECK-LABEL: .visible .entry case(
// CHECK: .loc [[FILE:[0-9]+]] 26
// CHECK: .loc [[FILE]] 13 {{[0-9]+}}, function_name {{.*}}, inlined_at [[FILE]] 26
// CHECK: .loc [[FILE]] 8 {{[0-9]+}}, function_name {{.*}}, inlined_at [[FILE]] 13
// LINES: section .text.case
// LINES-DAG: debug_inlining.rs:8 0x
// LINES-DAG: debug_inlining.rs:26 0x
#[kernel]
pub unsafe fn case(x: u32, out: *mut u32) {
    unsafe { *out = outer(x) }
}

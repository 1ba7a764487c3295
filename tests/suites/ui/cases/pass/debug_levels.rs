//! What stands in the PTX at each debug level; full information is for code that is not optimised.
//@ revisions: none lines full optimised
//@[lines] debug: line-tables
//@[full] debug: full
//@[optimised] debug: full
//@[optimised] opt-level: 2
#![no_std]
use ptx::prelude::*;

#[inline(always)]
fn inlined(x: u32) -> u32 {
    x * 3
}

// NONE-NOT: .loc
// NONE-NOT: .file
// NONE-NOT: .section
// CHECK(full): .target sm_80, debug
// CHECK-LABEL(lines, optimised): .visible .entry case(
// CHECK(lines, optimised): .loc [[FILE:[0-9]+]] [[LINE:[0-9]+]]
// CHECK(lines, optimised): inlined_at
// CHECK-NOT(lines, optimised): .debug_info
// CHECK-NOT(lines, optimised): , debug
// CHECK-LABEL(full): .visible .entry case(
// CHECK(full): .loc
// CHECK(full): .file
// CHECK-DAG(full): .section .debug_abbrev
// CHECK-DAG(full): .section .debug_info
// CHECK-DAG(full): .section .debug_pubnames
// LINES(lines, optimised): section .text.case
// LINES(lines, optimised): debug_levels.rs:
// LINES(full): debug_levels.rs:
// DWARF(full): subprogram case
#[kernel]
pub unsafe fn case(x: u32, out: *mut u32) {
    unsafe { *out = inlined(x) }
}

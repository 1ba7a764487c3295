//! The integer instructions that LLVM has no name for, or would rewrite, and the lowest GPU that has each.

use super::row::{Row, row, since};

/// All, by the chapters of the PTX ISA.
pub const ROWS: &[Row] = &[
    // PTX ISA, "Integer Arithmetic Instructions".
    row("r=rr", "{mul24.lo|mul24.hi}{.s32|.u32}"),
    row("r=rrr", "{mad24.lo|mad24.hi}{.s32|.u32}"),
    row("r=rrr", "sad{.s32|.u32}"),
    row("l=lll", "sad{.s64|.u64}"),
    row("r=rrr", "mad.hi{.s32|.u32}"),
    row("l=lll", "mad.hi{.s64|.u64}"),
    row("r=rrr", "mad.hi.sat.s32"),
    row("r=rr", "{add|sub}.sat.s32"),
    row("r=r", "bfind{|.shiftamt}{.u32|.s32}"),
    row("r=l", "bfind{|.shiftamt}{.u64|.s64}"),
    row("r=rrr", "bfe{.u32|.s32}"),
    row("l=lrr", "bfe{.u64|.s64}"),
    row("r=rrrr", "bfi.b32"),
    row("l=llrr", "bfi.b64"),
    since("r=rr", "bmsk{.clamp|.wrap}.b32", 70, (7, 6)),
    since("r=rr", "szext{.clamp|.wrap}{.u32|.s32}", 70, (7, 6)),
    row("r=rrr", "dp4a{.u32|.s32}{.u32|.s32}"),
    row("r=rrr", "dp2a{.lo|.hi}{.u32|.s32}{.u32|.s32}"),
    // PTX ISA, "Logic and Shift Instructions".
    row("r=rrr", "shf{.l|.r}{.wrap|.clamp}.b32"),
    // PTX ISA, "Data Movement and Conversion Instructions: prmt".
    row("r=rrr", "prmt.b32{|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}"),
    // PTX ISA, "Integer Arithmetic Instructions: add": two numbers of 16 bits in one register.
    since("r=rr", "add.u16x2", 90, (8, 0)),
    // PTX ISA, "Video Instructions", where nvcc uses them.
    row("r=rrr", "vabsdiff4.u32.u32.u32{|.add}"),
];

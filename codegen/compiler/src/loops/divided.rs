//! Has loops unrolled further that divide floats, or take roots or powers, and have a constant number of rounds.
//!
//! ```text
//! before: loop: %k = phi i64 [ 0, %before ], [ (add i64 %k, 1), %loop ]      ; LLVM has unrolled it twice, or not at all
//!               store float (fdiv float %x, %sum), ptr %at
//!               br i1 (icmp eq i64 %next, 64), label %end, label %loop
//! after:        br i1 …, label %end, label %loop, !llvm.loop !{…, !"llvm.loop.unroll.count", i32 8}
//! ```
//!
//! LLVM unrolls by the size of a body, and a round that makes an exponential and divides by a sum has thirty instructions.
//! nvcc has eight such rounds. Each division is a branch for ptxas, to the code for numbers that the fast way does not take,
//! so it moves nothing from one round to another: with eight, what eight rounds load can be asked for at once
//! (`float/early.rs`), which is a sector of 32 bytes where a thread walks along its own row. A root has a unit of its own, whose
//! answer a thread waits for: with eight rounds it asks for the next in the meantime.
//!
//! Only where the rounds are a multiple of what is unrolled, so that no remainder is left, and only what a user has said
//! nothing about.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Context, InstructionOpcode as Op, InstructionValue, IntPredicate, Module, Unroll,
};
use crate::settled;

use super::branches::{Branch, is_convergent};
use super::natural::{Graph, Loop};

/// Divisions in a body.
const MOST_DIVISIONS: u64 = 8;

/// Instructions in a body that is unrolled.
const MOST_INSTRUCTIONS: u64 = 400;

/// What else a GPU has a unit of its own for.
const SLOW_ONES: [&str; 8] = [
    "llvm.sqrt.",
    "llvm.nvvm.sqrt.",
    "llvm.nvvm.rsqrt.",
    "llvm.nvvm.rcp.",
    "llvm.nvvm.ex2.",
    "llvm.nvvm.lg2.",
    "llvm.nvvm.sin.",
    "llvm.nvvm.cos.",
];

/// Marks loops for unrolling.
pub fn unroll(context: &Context, module: &Module<'_>) {
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            let jumps = found.jumps_back();
            if llvm::unroll_was_disabled(context, &jumps) || llvm::unroll_was_asked(context, &jumps) {
                continue;
            }
            if let Some(times) = times(&found) {
                llvm::set_unroll(context, &jumps, Unroll::By(times));
            }
        }
    }
}

/// How often a loop's body is to stand in it.
fn times(found: &Loop<'_>) -> Option<u32> {
    let (room, rounds) = (room(found)?, rounds(found)?);
    [8_u32, 4, 2].into_iter().find(|times| {
        let times = u64::from(*times);
        times <= room && times < rounds && rounds.is_multiple_of(times)
    })
}

/// How often a loop's body may stand in it, if it loads, and computes something that takes a while.
pub(super) fn room(found: &Loop<'_>) -> Option<u64> {
    let [block] = found.blocks[..] else { return None };
    let instructions = || block.get_instructions();
    let count =
        |is_one: &dyn Fn(InstructionValue<'_>) -> bool| instructions().filter(|from| is_one(*from)).count() as u64;
    let divisions = match count(&|from| from.get_opcode() == Op::FDiv) {
        0 => count(&|from| is_slow(from)),
        divisions => divisions,
    };
    if divisions == 0 || !instructions().any(llvm::is_plain_load) || instructions().any(is_convergent) {
        return None;
    }
    Some((MOST_DIVISIONS / divisions).min(MOST_INSTRUCTIONS / instructions().count() as u64))
}

/// Whether a GPU takes several times as long for it as for a sum: a quotient, a root, a power.
pub fn is_slow(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == Op::FDiv || llvm::calls(instruction, &SLOW_ONES)
}

/// How often a loop of one block runs, if that is a constant.
fn rounds(found: &Loop<'_>) -> Option<u64> {
    let branch = Branch::of(found.head)?;
    let goes_on = match branch.predicate {
        IntPredicate::EQ => branch.other,
        IntPredicate::NE | IntPredicate::ULT => branch.then,
        _ => return None,
    };
    let sum = branch.left.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
    let (phi, step) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?.get_zero_extended_constant()?);
    let (first, next) = found.incoming(phi)?;
    let BasicValueEnum::IntValue(first) = first else { return None };
    let way = branch.right.get_zero_extended_constant()?.checked_sub(first.get_zero_extended_constant()?)?;
    let counts =
        goes_on == found.head && next == BasicValueEnum::from(branch.left) && step > 0 && way.is_multiple_of(step);
    counts.then(|| way / step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// By how much a loop from 0 to `end` is to be unrolled that divides `divided` so often in a round.
    fn asked(end: &str, divisions: usize, more: &str, mark: &str) -> Option<u32> {
        let divided: String =
            (0..divisions).map(|at| format!("%q{at} = fdiv float %x, %by\n store float %q{at}, ptr %to\n")).collect();
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define void @f(ptr %from, i64 %n, float %by, ptr %to) {{
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %loop ]
              %at = getelementptr float, ptr %from, i64 %k
              {more}
              {divided}
              %next = add i64 %k, 2
              %ends = icmp eq i64 %next, {end}
              br i1 %ends, label %end, label %loop {mark}
            end: ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}
            !2 = distinct !{{!2, !1, !3}}
            !3 = !{{!\"rust-ptx.unroll.count\"}}
            !4 = distinct !{{!4, !1, !5}}
            !5 = !{{!\"rust-ptx.unroll.disable\"}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        unroll(&context, &module);
        module.verify().unwrap();
        let ir = module.print_to_string().to_string();
        let (_, rest) = ir.split_once("!\"llvm.loop.unroll.count\", i32 ")?;
        rest.split('}').next()?.parse().ok()
    }

    const LOAD: &str = "%x = load float, ptr %at";

    #[test]
    fn up_to_eight_divisions_stand_in_a_body() {
        assert_eq!(asked("64", 1, LOAD, ""), Some(8));
        // LLVM's own mark says that it has unrolled the loop.
        assert_eq!(asked("64", 2, LOAD, ", !llvm.loop !0"), Some(4));
        assert_eq!(asked("64", 3, LOAD, ""), Some(2));
        // Twelve rounds.
        assert_eq!(asked("24", 1, LOAD, ""), Some(4));
    }

    #[test]
    fn others_stay_as_they_are() {
        let barrier = format!("{LOAD}\n call void @llvm.nvvm.barrier.cta.sync.all(i32 0)");
        for (end, divisions, more, mark) in [
            ("%n", 1, LOAD, ""),
            // No multiple of two rounds, an odd end, all rounds at once, no division, as many as there may be.
            ("30", 1, LOAD, ""),
            ("31", 1, LOAD, ""),
            ("4", 1, LOAD, ""),
            ("64", 0, LOAD, ""),
            ("64", 8, LOAD, ""),
            // A user said how often, or not at all.
            ("64", 1, LOAD, ", !llvm.loop !2"),
            ("64", 1, LOAD, ", !llvm.loop !4"),
            ("64", 1, "%x = bitcast i32 1 to float", ""),
            ("64", 1, &*barrier, ""),
        ] {
            assert_eq!(asked(end, divisions, more, mark), None, "{end}, {divisions}, {more}, {mark}");
        }
    }
}

//! Has loops unrolled further that divide floats and whose rounds are counted.
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
//! (`float/early.rs`), which is a sector of 32 bytes where a thread walks along its own row.
//!
//! Where the rounds are a constant, only if they are a multiple of what is unrolled, so that no remainder is left. Where a
//! number says before the loop how many there are, four stand in the body: LLVM would take two of those that make an
//! exponential. Never what a user has said something about.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Context, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
    Module, Unroll,
};
use crate::settled;

use super::branches::{Branch, integer, is_convergent};
use super::natural::{Graph, Loop};

/// Divisions in a body.
const MOST_DIVISIONS: u64 = 8;

/// Instructions in a body that is unrolled.
const MOST_INSTRUCTIONS: u64 = 400;

/// Marks loops for unrolling.
pub fn unroll(context: &Context, module: &Module<'_>) {
    for function in settled::open(module) {
        for found in Graph::of(function).innermost() {
            let jumps = found.jumps_back();
            if llvm::unroll_was_disabled(context, &jumps) || llvm::unroll_was_asked(context, &jumps) {
                continue;
            }
            let is_new = !llvm::has_loop_mark(context, &jumps);
            let of_unknown = || if is_new && is_counted(&found) { of_unknown(&found) } else { None };
            if let Some(times) = times(&found).or_else(of_unknown) {
                llvm::set_unroll(context, &jumps, Unroll::By(times));
            }
        }
    }
}

/// How many rounds there is room for in the body of a loop that gains by it: one that divides what it loads.
fn room(found: &Loop<'_>) -> Option<u64> {
    let [block] = found.blocks[..] else { return None };
    let instructions = || block.get_instructions();
    let divisions = instructions().filter(|from| is_float_division(*from)).count() as u64;
    if divisions == 0 || !instructions().any(llvm::is_plain_load) || instructions().any(is_convergent) {
        return None;
    }
    Some((MOST_DIVISIONS / divisions).min(MOST_INSTRUCTIONS / instructions().count() as u64))
}

/// How often a loop's body is to stand in it, where it is not known how many rounds there are.
pub fn of_unknown(found: &Loop<'_>) -> Option<u32> {
    let room = room(found)?;
    [4_u32, 2].into_iter().find(|times| u64::from(*times) <= room)
}

/// Whether a loop of one block counts its rounds, up or down, to a number that it does not change.
pub fn is_counted(found: &Loop<'_>) -> bool {
    let Some(branch) = Branch::of(found.head) else { return false };
    let counts = |next: IntValue<'_>, last: IntValue<'_>| {
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add);
        let by_one = sum.is_some_and(|sum| {
            let step = integer(sum, 1).and_then(IntValue::get_sign_extended_constant);
            let goes_on = integer(sum, 0).and_then(|phi| found.incoming(phi));
            matches!(step, Some(1 | -1)) && goes_on.is_some_and(|(_, value)| value == BasicValueEnum::from(next))
        });
        by_one && found.is_invariant(last.into())
    };
    let is_end = matches!(branch.predicate, IntPredicate::EQ | IntPredicate::NE);
    is_end && rounds(found).is_none() && counts(branch.left, branch.right)
}

/// How often a loop's body is to stand in it, where the number of its rounds is a constant.
fn times(found: &Loop<'_>) -> Option<u32> {
    let room = room(found)?;
    let rounds = rounds(found)?;
    [8_u32, 4, 2].into_iter().find(|times| {
        let times = u64::from(*times);
        times <= room && times < rounds && rounds.is_multiple_of(times)
    })
}

/// Whether an instruction divides as IEEE 754 has it, which is more than one of PTX's instructions.
fn is_float_division(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == Op::FDiv
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
    let (phi, step) = (integer(sum, 0)?, integer(sum, 1)?.get_zero_extended_constant()?);
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

    /// By how much a loop is to be unrolled that counts from `first` to `end`.
    fn asked_of_counted(step: &str, end: &str, divisions: usize, mark: &str) -> Option<u32> {
        let divided = "%q = fdiv float %x, %by\n store float %q, ptr %to\n";
        let divided: String = (0..divisions).map(|at| divided.replace("%q", &format!("%q{at}"))).collect();
        let text = format!(
            "define void @f(ptr %from, i64 %n, float %by, ptr %to) {{
            entry: br label %loop
            loop: %k = phi i64 [ %n, %entry ], [ %next, %loop ]
              %x = load float, ptr %from
              {divided}
              %next = add i64 %k, {step}
              %ends = icmp eq i64 %next, {end}
              br i1 %ends, label %end, label %loop {mark}
            end: ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        unroll(&context, &module);
        module.verify().unwrap();
        let ir = module.print_to_string().to_string();
        let (_, rest) = ir.split_once("!\"llvm.loop.unroll.count\", i32 ")?;
        rest.split('}').next()?.parse().ok()
    }

    #[test]
    fn four_divisions_stand_in_a_body_whose_rounds_are_counted_before_it() {
        assert_eq!(asked_of_counted("-1", "0", 1, ""), Some(4));
        assert_eq!(asked_of_counted("1", "%n", 2, ""), Some(4));
        assert_eq!(asked_of_counted("1", "%n", 4, ""), Some(2));
        // By two, too many, changed in the loop, what LLVM has left of a loop.
        assert_eq!(asked_of_counted("2", "%n", 1, ""), None);
        assert_eq!(asked_of_counted("1", "%n", 5, ""), None);
        assert_eq!(asked_of_counted("1", "%k", 1, ""), None);
        assert_eq!(asked_of_counted("1", "%n", 1, ", !llvm.loop !0"), None);
    }

    #[test]
    fn others_stay_as_they_are() {
        let barrier = format!("{LOAD}\n call void @llvm.nvvm.barrier.cta.sync.all(i32 0)");
        for (end, divisions, more, mark) in [
            // By two, to a number.
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

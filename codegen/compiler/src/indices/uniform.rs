//! Counts the rounds of loops that have the same number of them wherever they begin.
//!
//! ```text
//! before: %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()            ; below 128, as a branch has found
//!   loop: %i = phi i64 [ (zext i32 %t), %before ], [ %next, %loop ]
//!         %next = add i64 %i, 128
//!         br i1 (icmp ult i64 %i, 128), label %loop, label %end     ; of 256 elements, two are a thread's
//! after:  %round = phi i32 [ 0, %before ], [ (add i32 %round, 1), %loop ]
//!         br i1 (icmp ne i32 %round, 1), label %loop, label %end
//! ```
//!
//! A block whose size divides an array shares it evenly: `tile.own().iter_mut()`, and `while i < 512 { i += 128; }`.
//! LLVM divides what lies between the first index and the end, and does not see that the quotient is a
//! constant, since it does not ask what a loop begins with. So it unrolls by four, if at all, and asks for the end
//! in each round. With `#pragma unroll` CUDA C++ has the rounds one behind the other.
//!
//! Only loops that are short once they are unrolled: in a longer one, that the index is below the end says more
//! than a count.
//!
//! **Why it is right.** Where the first number is larger, there are no more rounds, and where the bound is larger,
//! no fewer. If there are as many from the smallest number to the largest bound as from the largest number to the
//! smallest bound, there are as many between. What is compared grows by a constant, and passes no end of its type:
//! a round after the first has been reached from a number below the bound. Where the loop ends otherwise it still
//! does.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::llvm::{
    self, BasicBlock, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, IntPredicate,
    IntValue, Module,
};
use crate::loops::{Branch, Graph, Growth, Loop, SimpleForm, in_order, is_marked};
use crate::settled;

use super::intervals::Interval;
use super::ranges::Ranges;

/// Rounds of a loop.
const MOST_ROUNDS: i128 = 16;

/// Instructions of all rounds together.
const MOST_INSTRUCTIONS: i128 = 400;

/// Counts every such loop.
pub fn count_uniform<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        for (growing, more) in uniform(context, function) {
            form.lose();
            growing.count(context, more).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot count the rounds of a loop: {error}"))
            })?;
        }
    }
    Ok(())
}

/// The loops of a function that always have the same number of rounds, with how many follow the first.
fn uniform<'ctx>(context: &Context, function: FunctionValue<'ctx>) -> Vec<(Growing<'ctx>, u64)> {
    let graph = Graph::of(function);
    let loops = graph.loops();
    let growing: Vec<_> =
        loops.iter().filter_map(|found| Some((found, Growing::of(context, &graph, found)?))).collect();
    if growing.is_empty() {
        return Vec::new();
    }
    let (given, same) = (QuickMap::default(), QuickMap::default());
    let ranges = Ranges::of_function(&graph, &given, &same);
    let counted = growing.into_iter().filter_map(|(found, growing)| {
        let more = growing.more(&ranges)?;
        is_short(found, more + 1).then(|| Some((growing, more.try_into().ok()?)))?
    });
    counted.collect()
}

/// Whether a loop of so many rounds is short without being one.
fn is_short(found: &Loop<'_>, rounds: i128) -> bool {
    let instructions = found.blocks.iter().flat_map(|block| block.get_instructions()).count();
    rounds <= MOST_ROUNDS && rounds * instructions as i128 <= MOST_INSTRUCTIONS
}

/// A loop that goes on while a number that grows by a constant is below a bound.
struct Growing<'ctx> {
    head: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// Whether it goes on where the condition holds.
    goes_on: bool,
    first: IntValue<'ctx>,
    step: i128,
    /// What is compared is the number and this.
    ahead: i128,
    bound: IntValue<'ctx>,
    /// It also goes on where both are equal.
    or_equal: bool,
}

impl<'ctx> Growing<'ctx> {
    fn of(context: &Context, graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let (before, branch) = (graph.block_before(found)?, Branch::of(latch)?);
        let goes_on = branch.then == found.head;
        let ends = !found.contains(if goes_on { branch.other } else { branch.then });
        if !ends || is_marked(context, &found.jumps_back()) {
            return None;
        }
        let (compared, bound, strict) = in_order(&branch, goes_on)?;
        let (number, ahead) = number_of(found, compared)?;
        let Growth { first, step, .. } = found.growth(number)?;
        let step = i128::from(step.get_sign_extended_constant()?);
        // LLVM counts from one constant to another.
        let is_open = !first.is_const() || !bound.is_const();
        let is_fit = step > 0 && is_open && found.is_invariant(bound.into());
        let head = found.head;
        is_fit.then_some(Self { head, before, latch, goes_on, first, step, ahead, bound, or_equal: !strict })
    }

    /// How many rounds follow the first, if that is the same whatever the first number and the bound are.
    fn more(&self, ranges: &Ranges<'_, 'ctx>) -> Option<i128> {
        let (first, bound) = (ranges.in_block(self.first, self.before), ranges.in_block(self.bound, self.before));
        let end = Interval::new(bound.low + i128::from(self.or_equal), bound.high + i128::from(self.or_equal));
        let most = (first.high + self.ahead).max(end.high - 1 + self.step);
        let passes_no_end = most < 1 << (self.first.get_type().get_bit_width() - 1);
        let more = |first: i128, end: i128| (end - (first + self.ahead) + self.step - 1).max(0) / self.step;
        let (fewest, greatest) = (more(first.high, end.low), more(first.low, end.high));
        (first.low >= 0 && bound.low >= 0 && passes_no_end && fewest == greatest).then_some(fewest)
    }

    /// Has the loop end by a number of rounds.
    fn count(&self, context: &'ctx Context, more: u64) -> std::result::Result<(), BuilderError> {
        let (Some(start), Some(end)) = (self.head.get_first_instruction(), self.latch.get_terminator()) else {
            return Ok(());
        };
        let (builder, word) = (context.create_builder(), context.i32_type());
        builder.position_before(&start);
        let round = builder.build_phi(word, "")?;
        builder.position_before(&end);
        let number = round.as_basic_value().into_int_value();
        let next = builder.build_int_nuw_add(number, word.const_int(1, false), "")?;
        round.add_incoming(&[(&word.const_zero(), self.before), (&next, self.latch)]);
        let relation = if self.goes_on { IntPredicate::NE } else { IntPredicate::EQ };
        let condition = builder.build_int_compare(relation, number, word.const_int(more, false), "")?;
        llvm::set_condition(end, condition);
        Ok(())
    }
}

/// The phi of a loop's head that is compared, and what is added to it, which is not negative.
fn number_of<'ctx>(found: &Loop<'ctx>, compared: IntValue<'ctx>) -> Option<(IntValue<'ctx>, i128)> {
    if found.incoming(compared).is_some() {
        return Some((compared, 0));
    }
    sum_with_constant(compared).filter(|(_, ahead)| *ahead >= 0)
}

/// What a constant is added to, and the constant.
fn sum_with_constant(sum: IntValue<'_>) -> Option<(IntValue<'_>, i128)> {
    let sum = sum.as_instruction_value().filter(|sum| sum.get_opcode() == Op::Add)?;
    Some((llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?.get_sign_extended_constant()?.into()))
}

#[cfg(test)]
#[path = "uniform_random_tests.rs"]
mod random_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged;

    /// A loop by `step` from a number below `below`, that jumps back by `jump`, which looks at what `compared` is.
    fn after(below: u32, step: u32, compared: &str, jump: &str) -> String {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare void @llvm.assume(i1)
            define void @f(ptr %to, i64 %n, i1 %is) {{
            entry: %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
              %few = and i64 %n, 63
              %about.512 = add i64 %few, 449
              %is.known = icmp eq i32 %threads, 128
              br i1 %is.known, label %known, label %end
            known: %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %is.below = icmp ult i32 %t, {below}
              call void @llvm.assume(i1 %is.below)
              %first = zext i32 %t to i64
              br label %loop
            loop: %i = phi i64 [ %first, %known ], [ %next, %latch ]
              %at = getelementptr float, ptr %to, i64 %i
              store float 0.0, ptr %at
              br i1 %is, label %end, label %latch
            latch: %next = add i64 %i, {step}
              %ahead = add i64 %i, 1
              %behind = add i64 %i, -1
              %more = icmp {compared}
              br i1 %more, label {jump}
            end: ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}"
        );
        staged::after(&text, |context, module, machine| {
            let form = SimpleForm::of(machine);
            count_uniform(context, module, &form).unwrap();
            // Once only.
            count_uniform(context, module, &form).unwrap();
        })
    }

    const GOES_ON: &str = "%loop, label %end";
    const ENDS: &str = "%end, label %loop";

    #[test]
    fn rounds_that_are_always_as_many_are_counted() {
        for (below, step, compared, jump, more) in [
            (128, 128, "ult i64 %next, 512", GOES_ON, "ne i32 %0, 3"),
            (128, 128, "ugt i64 512, %next", GOES_ON, "ne i32 %0, 3"),
            (128, 128, "ult i64 %i, 384", GOES_ON, "ne i32 %0, 3"),
            (128, 128, "ule i64 %i, 383", GOES_ON, "ne i32 %0, 3"),
            (128, 128, "ugt i64 %i, 383", ENDS, "eq i32 %0, 3"),
            (128, 128, "uge i64 %next, 512", ENDS, "eq i32 %0, 3"),
            // The last thread is the first that has one fewer.
            (127, 128, "ult i64 %next, 511", GOES_ON, "ne i32 %0, 3"),
            (127, 128, "ult i64 %ahead, 384", GOES_ON, "ne i32 %0, 3"),
            (64, 128, "ult i64 %next, %about.512", GOES_ON, "ne i32 %0, 3"),
            // There may be one round alone.
            (128, 128, "ult i64 %next, 128", GOES_ON, "ne i32 %0, 0"),
        ] {
            let ir = after(below, step, compared, jump);
            let (phi, condition) = ("%0 = phi i32 [ 0, %known ], [", format!("icmp {more}"));
            assert!(ir.contains(phi) && ir.contains(&condition), "{below}, {step}, {compared}: {ir}");
            assert_eq!(ir.matches("phi i32").count(), 1, "{ir}");
        }
    }

    #[test]
    fn others_stay() {
        let marked = format!("{GOES_ON}, !llvm.loop !0");
        for (below, step, compared, jump) in [
            // The last thread has a round fewer.
            (128, 128, "ult i64 %next, 511", GOES_ON),
            (128, 128, "ule i64 %next, 512", GOES_ON),
            (129, 128, "ult i64 %next, 512", GOES_ON),
            (128, 96, "ult i64 %next, 512", GOES_ON),
            (128, 128, "ult i64 %next, %about.512", GOES_ON),
            // Of a bound of which nothing is known, nor is how often a number meets it.
            (128, 128, "ult i64 %next, %n", GOES_ON),
            (128, 128, "ne i64 %next, 512", GOES_ON),
            // What is compared may come round.
            (128, 128, "ult i64 %behind, 512", GOES_ON),
            (128, 128, "ult i64 %next, -1", GOES_ON),
            (128, 128, "ult i64 %next, 512", ENDS),
            // Too long.
            (2, 2, "ult i64 %next, 34", GOES_ON),
            (128, 128, "ult i64 %next, 512", &marked),
        ] {
            let ir = after(below, step, compared, jump);
            assert!(!ir.contains("phi i32"), "{below}, {step}, {compared}, {jump}: {ir}");
        }
    }
}

//! A loop over the windows of a slice that are a step apart: it asks for what is left twice.
//!
//! ```text
//! loop: %left = phi i64 [ %first, %before ], [ %next, %loop ]         ; 8 at least, as a branch above has found
//!       %next = sub i64 %left, %step
//!       %few = icmp ult i64 (add i64 %left, -1), %less                ; %less is %step - 1
//!       %short = icmp ult i64 %next, 8
//!       br i1 (or i1 %few, %short), label %end, label %loop
//! ```
//!
//! So is `text.windows(8).skip(first).step_by(step)`: `StepBy` skips elements, for which the iterator asks whether
//! there are so many, and then takes one.
//!
//! **Why it is right.** What is left is 8 at least in each round: at first, and where the loop has gone on. So it is
//! not 0, and one less is not below the step less one exactly if the step is not above it; then the next number does
//! not wrap. Both hold where the step fits into what is left beyond 8, as often as it does. A step of 0 is one less
//! as the largest number, which nothing passes: then the loop ends in its first round.

use crate::llvm::{self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode as Op, IntValue};

use super::super::below::is_known_at_least;
use super::super::branches::{conditions, is_one_less};
use super::super::limits::less;
use super::super::natural::Loop;

/// What decides whether such a loop goes on.
pub struct Windows<'ctx> {
    /// What is left in the first round.
    pub first: IntValue<'ctx>,
    pub step: IntValue<'ctx>,
    /// What has to be left at least.
    pub width: u64,
}

impl<'ctx> Windows<'ctx> {
    pub fn of(found: &Loop<'ctx>, before: BasicBlock<'ctx>, latch: BasicBlock<'ctx>) -> Option<Self> {
        let (then, other) = llvm::branch_targets(latch.get_terminator()?)?;
        let goes_on = then == found.head;
        let [Some(one), Some(two)] = conditions(latch, found.head)[..] else { return None };
        let orders = [less(one, goes_on)?, less(two, goes_on)?];
        let of = |(few, short): (Order<'ctx>, Order<'ctx>)| {
            let (width, next) = least(short)?;
            let difference = next.as_instruction_value().filter(|from| from.get_opcode() == Op::Sub)?;
            let (left, step) = (llvm::int_operand(difference, 0)?, llvm::int_operand(difference, 1)?);
            let (BasicValueEnum::IntValue(first), again) = found.incoming(left)? else { return None };
            let is_one = again == BasicValueEnum::from(next)
                && found.is_invariant(step.into())
                && found.is_invariant(few.0.into())
                && is_one_less(few.0, step)
                && is_left(few, left)
                && width > 0;
            (is_one && is_known_at_least(before, first, width)).then_some(Self { first, step, width })
        };
        let [one, two] = orders;
        if goes_on == (other == found.head) {
            return None;
        }
        of((one, two)).or_else(|| of((two, one)))
    }
}

/// Two numbers of which the first is below the second, or no more than that; whether it is below.
type Order<'ctx> = (IntValue<'ctx>, IntValue<'ctx>, bool);

/// A number, and what it is at least.
fn least<'ctx>((low, high, is_strict): Order<'ctx>) -> Option<(u64, IntValue<'ctx>)> {
    let number = low.get_zero_extended_constant()?;
    Some((number.checked_add(u64::from(is_strict))?, high))
}

/// Whether the larger one is what is left, or one less where the two may be equal.
fn is_left<'ctx>((_, high, is_strict): Order<'ctx>, left: IntValue<'ctx>) -> bool {
    if is_strict { high == left } else { is_one_less(high, left) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::counted;

    /// A loop over what is left, behind a branch, after it was counted.
    fn windows(asks: &str, next: &str, few: &str, short: &str, joined: &str) -> String {
        counted(&format!(
            "begin: %less = add i64 %step, -1
              %is = {asks}
              br i1 %is, label %none, label %entry
            none: ret i32 0
            entry: br label %loop
            loop: %left = phi i64 [ %n, %entry ], [ %next, %loop ]
              %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
              %at = getelementptr i8, ptr %behind, i64 %left
              %x = load i32, ptr %at
              %more = add i32 %sum, %x
              %left.less = add i64 %left, -1
              %next = {next}
              %few = {few}
              %short = {short}
              {joined}
            end: ret i32 %more"
        ))
    }

    const ASKS: &str = "icmp ult i64 %n, 8";
    const NEXT: &str = "sub i64 %left, %step";
    const FEW: &str = "icmp ult i64 %left.less, %less";
    const SHORT: &str = "icmp ult i64 %next, 8";
    const ENDS: &str = "%ends = or i1 %few, %short\n br i1 %ends, label %end, label %loop";

    #[test]
    fn windows_a_step_apart_are_counted() {
        let goes = "%goes = and i1 %few, %short\n br i1 %goes, label %loop, label %end";
        let goes_on = ("icmp uge i64 %left.less, %less", "icmp ugt i64 %next, 7");
        for (few, short, joined) in [
            (FEW, SHORT, ENDS),
            (goes_on.0, goes_on.1, goes),
            ("icmp ule i64 %left, %less", SHORT, ENDS),
            (FEW, SHORT, "%ends = select i1 %few, i1 true, i1 %short\n br i1 %ends, label %end, label %loop"),
            (SHORT, FEW, ENDS),
        ] {
            let ir = windows(ASKS, NEXT, few, short, joined);
            // What is left beyond 8 is divided, and there is no other loop.
            assert!(ir.contains("udiv i64") && ir.contains(", 8\n") && ir.contains("phi i64 [ 0, "), "{ir}");
            assert_eq!(ir.matches("load i32").count(), 1, "{ir}");
        }
    }

    #[test]
    fn others_ask_twice() {
        for (asks, next, few, short, joined) in [
            // Less may be left, or nobody has asked.
            ("icmp ult i64 %n, 7", NEXT, FEW, SHORT, ENDS),
            ("icmp ugt i64 %n, 8", NEXT, FEW, SHORT, ENDS),
            // It may wrap, it grows, or another number is compared.
            (ASKS, NEXT, "icmp ult i64 %left, %less", SHORT, ENDS),
            (ASKS, NEXT, "icmp ule i64 %left.less, %less", SHORT, ENDS),
            (ASKS, NEXT, "icmp ult i64 %left.less, %step", SHORT, ENDS),
            (ASKS, "add i64 %left, %step", FEW, SHORT, ENDS),
            (ASKS, NEXT, FEW, "icmp ult i64 %left, 8", ENDS),
            (ASKS, NEXT, FEW, "icmp ult i64 %next, %first", ENDS),
            (ASKS, NEXT, FEW, SHORT, "%ends = and i1 %few, %short\n br i1 %ends, label %end, label %loop"),
            (ASKS, NEXT, FEW, SHORT, "%ends = or i1 %few, %short\n br i1 %ends, label %loop, label %end"),
        ] {
            let ir = windows(asks, next, few, short, joined);
            assert!(!ir.contains("udiv"), "{ir}");
        }
    }
}

//! Both questions at the end of a round, where LLVM has moved them.
//!
//! ```text
//! before: %last = icmp eq i64 %k, 1
//!         %next = select i1 %last, i64 1, i64 (add i64 %k, 1)
//!         br i1 (select i1 %last, i1 true, i1 (icmp sgt i64 %next, 1)), label %out, label %head
//! after:  br i1 %last, label %out, label %head
//! ```
//!
//! **Why it is right.** The first number is at most the end, and a round follows only where the next number is, too; so the
//! number is at most the end in every round. If it is not the end it is less, and the next one is at most the end.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, InstructionValue, IntPredicate, IntValue,
};
use crate::loops::branches::conditions;
use crate::loops::natural::Loop;

use super::compared::{Less, counts, is_of, of_head};

/// The two questions of a loop.
pub struct Rotated<'ctx> {
    head: BasicBlock<'ctx>,
    counter: InstructionValue<'ctx>,
    next: InstructionValue<'ctx>,
    end: IntValue<'ctx>,
    /// The branch back to the head, and whether it goes there where its condition holds.
    goes_on: (InstructionValue<'ctx>, bool),
}

impl<'ctx> Rotated<'ctx> {
    /// Of a loop over a range whose end belongs to it, if its first number is known to be at most the end.
    pub fn of(found: &Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let jump = latch.get_terminator()?;
        let (then, _) = llvm::branch_targets(jump)?;
        let holds = then == found.head;
        let [Some(one), Some(other)] = conditions(latch, found.head)[..] else { return None };
        [(one, other), (other, one)].into_iter().find_map(|(last, past)| {
            let within = Less::of(past, holds).filter(|within| within.or_equal)?;
            let (next, end) = (within.low.as_instruction_value()?, within.high);
            let counter = found
                .head
                .get_instructions()
                .find(|phi| of_head(found, *phi).is_some_and(|(_, value)| value == within.low))?;
            let (first, _) = of_head(found, counter)?;
            let BasicValueEnum::IntValue(low) = llvm::result(counter) else { return None };
            let differs = if holds { IntPredicate::NE } else { IntPredicate::EQ };
            let both = [llvm::int_operand(last, 0)?, llvm::int_operand(last, 1)?];
            let is_other = last.get_icmp_predicate() == Some(differs) && (both == [low, end] || both == [end, low])
                || Less::of(last, holds)
                    .is_some_and(|less| less.is_signed == within.is_signed && less.is_below(low, end));
            let is_known = is_other
                && first.iter().all(|(first, _)| is_at_most(*first, end, within.is_signed))
                && found.is_invariant(end.into())
                && counts_where(next, low, last, holds)
                && is_of(found, next);
            is_known.then_some(Self { head: found.head, counter, next, end, goes_on: (jump, holds) })
        })
    }

    /// Has the loop go on where the number is not the end.
    pub fn count(&self, builder: &Builder<'ctx>) -> Result<(), BuilderError> {
        let BasicValueEnum::IntValue(low) = llvm::result(self.counter) else { return Ok(()) };
        let (jump, holds) = self.goes_on;
        builder.position_before(&self.next);
        let next = builder.build_int_add(low, low.get_type().const_int(1, false), "")?;
        builder.position_before(&jump);
        let predicate = if holds { IntPredicate::NE } else { IntPredicate::EQ };
        let condition = builder.build_int_compare(predicate, low, self.end, "")?;
        llvm::set_condition(jump, condition);
        // Who looks at the next number in the last round finds that it stands still.
        let Some(latch) = jump.get_parent() else { return Ok(()) };
        llvm::replace_predecessor(self.head, latch, latch, |value| {
            if value == llvm::result(self.next) { next.into() } else { value }
        });
        Ok(())
    }
}

/// As [`counts`], for a condition under which the loop goes on, or one under which it does not.
fn counts_where<'ctx>(
    next: InstructionValue<'ctx>,
    from: IntValue<'ctx>,
    condition: InstructionValue<'ctx>,
    goes_on: bool,
) -> bool {
    if !goes_on {
        return counts(next, from, condition);
    }
    // A choice by the same condition, the other way round.
    let counted = llvm::int_operand(next, 0).filter(|chosen| chosen.as_instruction_value() == Some(condition));
    match counted.and_then(|_| llvm::int_operand(next, 1)).and_then(|counted| counted.as_instruction_value()) {
        Some(counted) => counts(counted, from, condition),
        None => counts(next, from, condition),
    }
}

/// Whether a constant is at most another, or 0, which nothing without a sign is below.
fn is_at_most(low: IntValue<'_>, high: IntValue<'_>, is_signed: bool) -> bool {
    if !is_signed && low.get_zero_extended_constant() == Some(0) {
        true
    } else if is_signed {
        low.get_sign_extended_constant().zip(high.get_sign_extended_constant()).is_some_and(|(low, high)| low <= high)
    } else {
        low.get_zero_extended_constant().zip(high.get_zero_extended_constant()).is_some_and(|(low, high)| low <= high)
    }
}

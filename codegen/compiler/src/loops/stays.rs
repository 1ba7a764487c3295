//! What is asked before a loop whose checks are to hold in all rounds.

use crate::llvm::{self, BuilderError, IntPredicate, IntValue};

use super::checks::{Check, Emit};
use super::guards::Guard;
use super::limits::Limit;

impl<'ctx> Emit<'_, 'ctx> {
    /// Whether a check's index is within its length in every round.
    pub(super) fn stays_below(
        &self,
        check: &Check<'ctx>,
        rounds: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        if let Limit::Always { predicate } = check.limit {
            let [left, right] = [check.index, check.len].map(|value| llvm::build_freeze(&self.builder, value));
            return self.builder.build_int_compare(predicate, left, right, "");
        }
        if let Limit::Beside { strict } = check.limit {
            return self.stays_beside(check, rounds, strict);
        }
        if let Limit::Bounded { strict } = check.limit {
            return self.stays_bounded((check.index, check.len), strict, rounds);
        }
        let (first, step) = self.affine(check.index)?;
        let [first, step, len] = [first, step, check.len].map(|value| llvm::build_freeze(&self.builder, value));
        if let Limit::Not { down } = check.limit {
            // So many rounds later it would be that number, also where it wraps around before.
            let (from, to) = if down { (len, first) } else { (first, len) };
            let way = self.builder.build_int_sub(to, from, "")?;
            return self.builder.build_int_compare(IntPredicate::UGT, way, rounds, "");
        }
        if let Limit::Keeps { shift, more } = check.limit {
            return self.keeps((first, step), (len, shift, more), rounds);
        }
        let (growth, too_much) = self.overflowing("llvm.umul.with.overflow", rounds, step)?;
        let (last, too_far) = self.overflowing("llvm.uadd.with.overflow", first, growth)?;
        let within = if matches!(check.limit, Limit::Below) { IntPredicate::ULT } else { IntPredicate::ULE };
        let mut below = self.builder.build_int_compare(within, last, len, "")?;
        if let Limit::Leaves { count, more } = check.limit {
            // No round leaves less than the last.
            let count = llvm::build_freeze(&self.builder, count);
            let rest = self.builder.build_int_sub(len, last, "")?;
            let enough = if more { IntPredicate::UGT } else { IntPredicate::UGE };
            let leaves = self.builder.build_int_compare(enough, rest, count, "")?;
            below = self.builder.build_and(below, leaves, "")?;
        }
        let overflows = self.builder.build_or(too_much, too_far, "")?;
        let fits = self.builder.build_not(overflows, "")?;
        self.builder.build_and(below, fits, "")
    }

    /// Whether an index is no more than another in every round: at first, and so it grows; the other does not overflow.
    fn stays_beside(
        &self,
        check: &Check<'ctx>,
        rounds: IntValue<'ctx>,
        strict: bool,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let freeze = |(first, step)| [first, step].map(|value| llvm::build_freeze(&self.builder, value));
        let ([low, grows], [high, more]) = (freeze(self.affine(check.index)?), freeze(self.affine(check.len)?));
        let (growth, too_much) = self.overflowing("llvm.umul.with.overflow", rounds, more)?;
        let (_, too_far) = self.overflowing("llvm.uadd.with.overflow", high, growth)?;
        let relation = if strict { IntPredicate::ULT } else { IntPredicate::ULE };
        let begins = self.builder.build_int_compare(relation, low, high, "")?;
        let goes_on = self.builder.build_int_compare(IntPredicate::ULE, grows, more, "")?;
        let stays = self.builder.build_and(begins, goes_on, "")?;
        let overflows = self.builder.build_or(too_much, too_far, "")?;
        self.builder.build_and(stays, self.builder.build_not(overflows, "")?, "")
    }

    /// Whether what shrinks, shifted to the right, is never less than so much: the last is not, and each before is more.
    fn keeps(
        &self,
        (first, step): (IntValue<'ctx>, IntValue<'ctx>),
        (least, shift, more): (IntValue<'ctx>, u64, bool),
        rounds: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let builder = &self.builder;
        let number = |number| first.get_type().const_int(number, false);
        let (least, is_none) = if more {
            self.overflowing("llvm.uadd.with.overflow", least, number(1))?
        } else {
            (least, self.context.bool_type().const_zero())
        };
        // Shifted to the right, a number is at least so much exactly if it is at least that, shifted to the left.
        let (least, is_past) = self.overflowing("llvm.umul.with.overflow", least, number(1 << shift))?;
        let (loss, too_much) = self.overflowing("llvm.umul.with.overflow", rounds, builder.build_int_neg(step, "")?)?;
        let room = builder.build_int_sub(first, least, "")?;
        let begins = builder.build_int_compare(IntPredicate::UGE, first, least, "")?;
        let stays = builder.build_int_compare(IntPredicate::ULE, loss, room, "")?;
        let holds = builder.build_and(begins, stays, "")?;
        let overflows = builder.build_or(builder.build_or(is_none, is_past, "")?, too_much, "")?;
        builder.build_and(holds, builder.build_not(overflows, "")?, "")
    }

    /// Whether something holds, or no round comes to where it has to.
    pub(super) fn or_not_reached(
        &self,
        mut holds: IntValue<'ctx>,
        guards: Vec<Guard<'ctx>>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        for (condition, reaches) in guards {
            let condition = llvm::build_freeze(&self.builder, condition);
            let not = if reaches { self.builder.build_not(condition, "")? } else { condition };
            holds = self.builder.build_or(holds, not, "")?;
        }
        Ok(holds)
    }
}

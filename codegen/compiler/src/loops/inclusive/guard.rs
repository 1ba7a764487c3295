//! A comparison at the head of a loop that says nothing new after the first round.
//!
//! ```text
//! before: head: br i1 (icmp sgt i32 %k, %end), label %out, label %round     ; rounds end in br (icmp slt i32 %k, %end), %head, %out
//!         out:  %all = phi float [ %sum, %head ], …
//! after:        br i1 (icmp sgt i32 %first, %end), label %out, label %round
//!         out:  %all = phi float [ 0.0, %head ], …                          ; with what %sum begins
//! ```

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, InstructionOpcode, InstructionValue,
    IntPredicate, IntValue,
};
use crate::loops::natural::Loop;

use super::compared::{Less, first_question, number, of_head};

/// The comparison of a number with the end that a loop begins with, where its rounds compare them, too.
pub struct Guard<'ctx> {
    leaves: InstructionValue<'ctx>,
    is_signed: bool,
    first: IntValue<'ctx>,
    end: IntValue<'ctx>,
    before: BasicBlock<'ctx>,
}

impl<'ctx> Guard<'ctx> {
    /// Of a loop over a range whose end belongs to it, and that goes on where a number is less than the end.
    pub fn of(found: &Loop<'ctx>) -> Option<Self> {
        let leaves = first_question(found)?;
        let (outside, inside) = llvm::branch_targets(leaves)?;
        if found.contains(outside) || !found.contains(inside) {
            return None;
        }
        let within =
            Less::of(llvm::int_operand(leaves, 0)?.as_instruction_value()?, false).filter(|within| within.or_equal)?;
        let (first, next) = of_head(found, within.low.as_instruction_value()?)?;
        let [(first, before)] = first[..] else { return None };
        let next = next.as_instruction_value().filter(|next| next.get_opcode() == InstructionOpcode::Add)?;
        let counts =
            llvm::int_operand(next, 0) == Some(within.low) && llvm::int_operand(next, 1).and_then(number) == Some(1);
        let goes_on = |latch: &BasicBlock<'ctx>| {
            let end = latch.get_terminator()?;
            let (then, _) = llvm::branch_targets(end)?;
            let less = Less::of(llvm::int_operand(end, 0)?.as_instruction_value()?, then == found.head)?;
            (less.is_signed == within.is_signed && less.is_below(within.low, within.high)).then_some(())
        };
        let is_known = counts
            && first != within.high
            && found.is_invariant(within.high.into())
            && found.latches.iter().all(|latch| goes_on(latch).is_some());
        is_known.then_some(Self { leaves, is_signed: within.is_signed, first, end: within.high, before })
    }

    /// Asks before the loop. Where it ends by that, it does so in the first round, with what its phis begin with.
    pub fn ask_once(&self, builder: &Builder<'ctx>, found: &Loop<'ctx>) -> Result<(), BuilderError> {
        let more = if self.is_signed { IntPredicate::SGT } else { IntPredicate::UGT };
        builder.position_before(&self.before.get_terminator().expect("it jumps to the loop"));
        let none = builder.build_int_compare(more, self.first, self.end, "")?;
        llvm::set_condition(self.leaves, none);
        let targets = llvm::branch_targets(self.leaves);
        if let (Some((outside, _)), Some(asks)) = (targets, self.leaves.get_parent()) {
            let at_first = |value: BasicValueEnum<'ctx>| {
                let phi = llvm::instruction_of(value).filter(|phi| phi.get_parent() == Some(found.head));
                phi.and_then(|phi| llvm::incoming_from(phi, self.before)).unwrap_or(value)
            };
            llvm::replace_predecessor(outside, asks, asks, at_first);
        }
        Ok(())
    }
}

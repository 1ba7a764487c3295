//! What a loop asks, as comparisons of numbers that grow by the same in every round.
//!
//! ```text
//! before: %rest = sub i64 %len, (mul i64 %k, %n)                     after: icmp ugt i64 %n, %i
//!         icmp ugt i64 (umin(i64 %n, i64 %rest)), %i                        icmp ugt i64 %rest, %i
//!
//! before: %best = phi i64 [ 0, %before ], [ %next, %loop ]           after: icmp ult i64 0, %len
//!         icmp ult i64 %best, %len                                          icmp ult i64 %k, %len
//!         %next = select i1 %more, i64 %k, i64 %best
//! ```
//!
//! So rows of a matrix (`m.chunks(n)`) are checked, and the place of the largest number (`if x[k] > x[best] { best = k }`).
//!
//! **Why it is right.** The smaller of two numbers is more than a third if both are. A number that is, in every round, one of
//! several in that round or one before, is below a length if all of these are in all rounds.

use crate::llvm::{self, BasicValue, BasicValueEnum, InstructionOpcode, IntValue};

use super::branches::Branch;
use super::checks::Shape;
use super::limits::{least, order};

/// Numbers that an index may be one of.
const MOST_VALUES: usize = 3;

/// How deep a choice among them may be.
const MOST_STEPS: u32 = 4;

impl<'ctx> Shape<'_, 'ctx> {
    /// Comparisons all of which hold where a comparison does: each of two that a number is the smaller one of, and each of those
    /// that an index is one of.
    pub(super) fn simpler(&self, branch: Branch<'ctx>, inside_first: bool) -> Vec<Branch<'ctx>> {
        let Some((low, high, _)) = order(&branch, inside_first) else { return vec![branch] };
        if let Some(both) = least(high).filter(|_| !self.is_invariant(high)) {
            return both.into_iter().map(|value| branch.with(high, value)).collect();
        }
        match self.choice(low).filter(|_| self.is_invariant(high)) {
            Some(values) => values.into_iter().map(|value| branch.with(low, value)).collect(),
            None => vec![branch],
        }
    }

    /// The numbers one of which a phi of the head is in every round: `if x[i] > x[best] { best = i }`.
    fn choice(&self, index: IntValue<'ctx>) -> Option<Vec<IntValue<'ctx>>> {
        let (first, next) = self.of_head(index).filter(|_| !self.grows(index))?;
        let mut values = vec![first];
        self.collect(index, next, MOST_STEPS, &mut values).then_some(values)
    }

    fn collect(
        &self,
        index: IntValue<'ctx>,
        value: IntValue<'ctx>,
        steps: u32,
        values: &mut Vec<IntValue<'ctx>>,
    ) -> bool {
        if value == index || values.contains(&value) {
            return true;
        }
        if self.grows(value) {
            values.push(value);
            return values.len() <= MOST_VALUES;
        }
        let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
        match from.get_opcode() {
            InstructionOpcode::Select => [1, 2].into_iter().all(|operand| {
                llvm::int_operand(from, operand).is_some_and(|value| self.collect(index, value, steps - 1, values))
            }),
            InstructionOpcode::Phi if from.get_parent() != Some(self.found.head) => {
                llvm::incoming(from).into_iter().all(|(value, _)| match value {
                    BasicValueEnum::IntValue(value) => self.collect(index, value, steps - 1, values),
                    _ => false,
                })
            }
            _ => false,
        }
    }

    /// What grows, or shrinks, by the same in every round, and by how many bits it is shifted to be a number.
    pub(super) fn shrinking(&self, value: IntValue<'ctx>) -> Option<(IntValue<'ctx>, u64)> {
        let shifted = value.as_instruction_value().filter(|from| from.get_opcode() == InstructionOpcode::LShr);
        let (left, shift) = match shifted {
            Some(from) => (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?.get_zero_extended_constant()?),
            None => (value, 0),
        };
        (shift < 64 && !self.is_invariant(left) && self.grows(left)).then_some((left, shift))
    }
}

//! What a quotient, its product with the divisor and the rest say of each other.

use super::ranges::{Facts, Interval, Ranges, constant};
use crate::llvm::{self, BasicValue, InstructionOpcode as Op, InstructionValue, IntValue};

/// How often a value is extended, cut or chosen on its way to a product.
const MOST_LAYERS: u32 = 6;

impl<'ctx> Ranges<'_, 'ctx> {
    /// The dividend, where a quotient, or less, is multiplied by its divisor again: the product is no larger.
    pub(super) fn divided(&self, product: InstructionValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> Option<Interval> {
        let factors = [
            self.inner(llvm::int_operand(product, 0)?, facts, steps),
            self.inner(llvm::int_operand(product, 1)?, facts, steps),
        ];
        [(0, 1), (1, 0)].into_iter().find_map(|(quotient, divisor)| {
            let quotient = self.inner(self.above(factors[quotient], facts, steps), facts, steps);
            let from = quotient.as_instruction_value().filter(|from| from.get_opcode() == Op::UDiv)?;
            let is_same = self.inner(llvm::int_operand(from, 1)?, facts, steps) == factors[divisor];
            let whole = self.look(llvm::int_operand(from, 0)?, facts, steps);
            (is_same && whole.low >= 0).then_some(whole)
        })
    }

    /// What a number was before less than it was taken, down to 0: `y.saturating_sub(1)`, or `y - 1` where that is not below 0.
    fn above(&self, value: IntValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> IntValue<'ctx> {
        let whole = || {
            let from = value.as_instruction_value()?;
            let whole = llvm::int_operand(from, 0)?;
            let is_less = match from.get_opcode() {
                Op::Add => {
                    llvm::int_operand(from, 1).and_then(constant)? < 0 && self.look(value, facts, steps).low >= 0
                }
                Op::Call => llvm::called_function(from)?.get_name().to_bytes().starts_with(b"llvm.usub.sat."),
                _ => false,
            };
            is_less.then_some(whole)
        };
        whole().unwrap_or(value)
    }

    /// What is left where a quotient's product with its divisor is taken from the dividend: less than either.
    pub(super) fn rest(&self, difference: InstructionValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> Option<Interval> {
        let product = llvm::int_operand(difference, 1)?.as_instruction_value()?;
        // What is divided without a rest.
        if product.get_opcode() == Op::URem && llvm::int_operand(product, 0) == llvm::int_operand(difference, 0) {
            let whole = self.look(llvm::int_operand(product, 0)?, facts, steps);
            return (whole.low >= 0).then_some(Interval::new(0, whole.high));
        }
        if product.get_opcode() != Op::Mul {
            return None;
        }
        let whole = self.inner(llvm::int_operand(difference, 0)?, facts, steps);
        let factors = [
            self.inner(llvm::int_operand(product, 0)?, facts, steps),
            self.inner(llvm::int_operand(product, 1)?, facts, steps),
        ];
        [(0, 1), (1, 0)].into_iter().find_map(|(quotient, divisor)| {
            let from = factors[quotient].as_instruction_value().filter(|from| from.get_opcode() == Op::UDiv)?;
            let is_same = self.inner(llvm::int_operand(from, 1)?, facts, steps) == factors[divisor]
                && self.inner(llvm::int_operand(from, 0)?, facts, steps) == whole;
            let (whole, by) = (self.look(whole, facts, steps), self.look(factors[divisor], facts, steps));
            let most = whole.high.min((by.high - 1).max(0));
            (is_same && whole.low >= 0 && by.low >= 0).then_some(Interval::new(0, most))
        })
    }

    /// The value that is the same number before it is extended, cut or chosen.
    fn inner(&self, value: IntValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> IntValue<'ctx> {
        let mut value = value;
        for _ in 0..MOST_LAYERS {
            let Some(from) = value.as_instruction_value() else { break };
            let first = llvm::int_operand(from, 0);
            let next = match (from.get_opcode(), first) {
                (Op::ZExt, Some(inner)) => Some(inner),
                (Op::Trunc, Some(inner)) => {
                    let fits = Interval::of_bits(value.get_type().get_bit_width());
                    Some(inner).filter(|inner| self.look(*inner, facts, steps).is_inside(fits))
                }
                (Op::Select, Some(condition)) => {
                    let holds = condition.as_instruction_value().and_then(|of| self.decide_in(of, facts, steps));
                    holds.and_then(|holds| llvm::int_operand(from, if holds { 1 } else { 2 }))
                }
                _ => None,
            };
            match next {
                Some(next) => value = next,
                None => break,
            }
        }
        value
    }
}

//! A loop that ends where the next index overflows, or is not below a bound, as one over `zip(…).skip(first).step_by(step)`.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntPredicate, IntValue,
};

use super::super::natural::Loop;

/// A sum of which a loop asks whether it overflows.
pub struct Within<'ctx> {
    /// `llvm.uadd.with.overflow`.
    pub call: InstructionValue<'ctx>,
    /// What it computes, the next index.
    pub next: IntValue<'ctx>,
    pub bound: IntValue<'ctx>,
    /// What it adds to.
    pub at: IntValue<'ctx>,
    /// What is added beside it in each round.
    pub more: u64,
    /// What it adds.
    pub step: IntValue<'ctx>,
}

impl<'ctx> Within<'ctx> {
    pub fn of(found: &Loop<'ctx>, latch: BasicBlock<'ctx>) -> Option<Self> {
        let end = latch.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let either = llvm::int_operand(end, 0)?.as_instruction_value()?;
        if either.get_opcode() != InstructionOpcode::Or || other != found.head || then == found.head {
            return None;
        }
        let parts =
            [llvm::int_operand(either, 0)?, llvm::int_operand(either, 1)?].map(|part| part.as_instruction_value());
        let [Some(a), Some(b)] = parts else { return None };
        let (overflows, compared) = if b.get_icmp_predicate().is_some() { (a, b) } else { (b, a) };
        let (left, right) = (llvm::int_operand(compared, 0)?, llvm::int_operand(compared, 1)?);
        let (next, bound) = match compared.get_icmp_predicate()? {
            IntPredicate::UGE => (left, right),
            IntPredicate::ULE => (right, left),
            _ => return None,
        };
        let call = called(overflows, 1)?;
        let is_sum = llvm::called_function(call)?.get_name().to_bytes().starts_with(b"llvm.uadd.with.overflow.")
            && called(next.as_instruction_value()?, 0) == Some(call);
        let (at, step) = (llvm::int_operand(call, 0)?, llvm::int_operand(call, 1)?);
        // One is added before or behind it.
        let (phi, before) = without_constant(at);
        let BasicValueEnum::IntValue(again) = found.incoming(phi)?.1 else { return None };
        let (again, behind) = if again == next { (again, 0) } else { without_constant(again) };
        let (is_next, more) = (again == next, before.checked_add(behind)?);
        let is_same = found.is_invariant(step.into()) && found.is_invariant(bound.into());
        (is_sum && is_next && is_same).then_some(Self { call, next, bound, at, more, step })
    }
}

/// A sum without the constant that is added, and that.
fn without_constant(value: IntValue<'_>) -> (IntValue<'_>, u64) {
    let sum = value.as_instruction_value().filter(|sum| sum.get_opcode() == InstructionOpcode::Add);
    let parts = sum
        .and_then(|sum| Some((llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?.get_zero_extended_constant()?)));
    parts.unwrap_or((value, 0))
}

/// The call of whose result an instruction is that part.
fn called(instruction: InstructionValue<'_>, part: u32) -> Option<InstructionValue<'_>> {
    let (whole, index) = llvm::part_of(instruction)?;
    (index == part && whole.get_opcode() == InstructionOpcode::Call).then_some(whole)
}

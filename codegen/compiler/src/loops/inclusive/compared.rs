//! Comparisons of a number with another, in one form.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntPredicate, IntValue, Use,
};
use crate::loops::limits::opposite;
use crate::loops::natural::Loop;

/// A number that is less than another, or at most so much, with or without sign.
#[derive(Clone, Copy, PartialEq)]
pub struct Less<'ctx> {
    pub low: IntValue<'ctx>,
    pub high: IntValue<'ctx>,
    /// Whether both may be equal. It is so where the other is a constant.
    pub or_equal: bool,
    pub is_signed: bool,
}

impl<'ctx> Less<'ctx> {
    /// What a condition says where it holds, or where it does not.
    pub fn of(condition: InstructionValue<'ctx>, holds: bool) -> Option<Self> {
        if condition.get_opcode() == InstructionOpcode::Xor
            && llvm::int_operand(condition, 1).and_then(number) == Some(1)
        {
            return Self::of(llvm::int_operand(condition, 0)?.as_instruction_value()?, !holds);
        }
        use IntPredicate as P;
        let predicate = condition.get_icmp_predicate()?;
        let predicate = if holds { predicate } else { opposite(predicate) };
        let (left, right) = (llvm::int_operand(condition, 0)?, llvm::int_operand(condition, 1)?);
        let (low, high, or_equal, is_signed) = match predicate {
            P::SLT => (left, right, false, true),
            P::SLE => (left, right, true, true),
            P::SGT => (right, left, false, true),
            P::SGE => (right, left, true, true),
            P::ULT => (left, right, false, false),
            P::ULE => (left, right, true, false),
            P::UGT => (right, left, false, false),
            P::UGE => (right, left, true, false),
            P::EQ | P::NE => return None,
        };
        let less = Self { low, high, or_equal, is_signed };
        Some(less.before_constant().unwrap_or(less))
    }

    /// Whether it says that a number is less than another.
    pub fn is_below(self, low: IntValue<'ctx>, high: IntValue<'ctx>) -> bool {
        let wanted = Self { low, high, or_equal: false, is_signed: self.is_signed };
        self == wanted || wanted.before_constant() == Some(self)
    }

    /// Less than a constant is at most the constant before.
    fn before_constant(self) -> Option<Self> {
        let constant = self.high.get_zero_extended_constant().filter(|_| !self.or_equal)?;
        let bits = self.high.get_type().get_bit_width();
        let least = if self.is_signed { 1_u64 << (bits - 1) } else { 0 };
        let high = self.high.get_type().const_int(constant.wrapping_sub(1), false);
        (constant != least).then_some(Self { high, or_equal: true, ..self })
    }
}

/// Whether a number is 1 exactly where a condition does not hold, which says that numbers are equal or one is not less.
pub fn is_1_unless<'ctx>(step: IntValue<'ctx>, last: InstructionValue<'ctx>) -> bool {
    let extended = step.as_instruction_value().filter(|from| from.get_opcode() == InstructionOpcode::ZExt);
    let goes_on = extended.and_then(|from| llvm::int_operand(from, 0)).and_then(|value| value.as_instruction_value());
    goes_on.is_some_and(|goes_on| is_opposite(goes_on, last))
}

/// Whether one condition holds exactly where another does not.
pub fn is_opposite<'ctx>(one: InstructionValue<'ctx>, other: InstructionValue<'ctx>) -> bool {
    let denies = |one: InstructionValue<'ctx>, other: InstructionValue<'ctx>| {
        one.get_opcode() == InstructionOpcode::Xor
            && llvm::int_operand(one, 1).and_then(number) == Some(1)
            && llvm::int_operand(one, 0).and_then(|value| value.as_instruction_value()) == Some(other)
    };
    let equal = |one: InstructionValue<'ctx>, holds| {
        let is = if holds { IntPredicate::EQ } else { IntPredicate::NE };
        (one.get_icmp_predicate() == Some(is)).then(|| [llvm::int_operand(one, 0), llvm::int_operand(one, 1)])
    };
    let compares = || match (Less::of(one, true), Less::of(other, false)) {
        (Some(one), Some(other)) => one == other,
        _ => [true, false]
            .into_iter()
            .any(|holds| equal(one, holds).is_some() && equal(one, holds) == equal(other, !holds)),
    };
    denies(one, other) || denies(other, one) || compares()
}

/// Whether a number counts on by one, or does unless a condition holds, under which nobody looks at it.
pub fn counts<'ctx>(next: InstructionValue<'ctx>, from: IntValue<'ctx>, last: InstructionValue<'ctx>) -> bool {
    let is_next = |value: IntValue<'ctx>| {
        value.as_instruction_value().is_some_and(|next| {
            next.get_opcode() == InstructionOpcode::Add
                && llvm::int_operand(next, 0) == Some(from)
                && llvm::int_operand(next, 1).and_then(number) == Some(1)
        })
    };
    match next.get_opcode() {
        InstructionOpcode::Add => {
            let step = llvm::int_operand(next, 1);
            llvm::int_operand(next, 0) == Some(from)
                && step.is_some_and(|step| number(step) == Some(1) || is_1_unless(step, last))
        }
        InstructionOpcode::Select => {
            let Some(condition) = llvm::int_operand(next, 0).and_then(|value| value.as_instruction_value()) else {
                return false;
            };
            let counted = if condition == last {
                llvm::int_operand(next, 2)
            } else if is_opposite(condition, last) {
                llvm::int_operand(next, 1)
            } else {
                None
            };
            counted.is_some_and(is_next)
        }
        _ => false,
    }
}

/// What a phi of a loop's head is at first, by block, and what it is next, which is the same from everywhere; `None` where a
/// block jumps to the head in several cases, because whoever makes another phi of this gives it an entry for each block.
pub fn of_head<'ctx>(
    found: &Loop<'ctx>,
    phi: InstructionValue<'ctx>,
) -> Option<(Vec<(IntValue<'ctx>, BasicBlock<'ctx>)>, IntValue<'ctx>)> {
    if phi.get_opcode() != InstructionOpcode::Phi || phi.get_parent() != Some(found.head) {
        return None;
    }
    let (mut first, mut next, mut seen) = (Vec::new(), None, Vec::new());
    for (value, from) in llvm::incoming(phi) {
        let BasicValueEnum::IntValue(value) = value else { return None };
        if seen.contains(&from) {
            return None;
        }
        seen.push(from);
        if !found.latches.contains(&from) {
            first.push((value, from));
        } else if next.replace(value).is_some_and(|before| before != value) {
            return None;
        }
    }
    Some((first, next?))
}

/// The first jump of a round that may go to one of two blocks.
pub fn first_question<'ctx>(found: &Loop<'ctx>) -> Option<InstructionValue<'ctx>> {
    let mut block = found.head;
    for _ in &found.blocks {
        let jump = block.get_terminator()?;
        let [next] = llvm::block_operands(jump)[..] else { return Some(jump) };
        block = next;
        if next == found.head || !found.contains(next) {
            return None;
        }
    }
    None
}

/// Whether nothing behind a loop uses a value.
pub fn is_of<'ctx>(found: &Loop<'ctx>, from: InstructionValue<'ctx>) -> bool {
    llvm::uses(&from).into_iter().all(|user| match user {
        Use::Instruction(user) => user.get_parent().is_some_and(|block| found.contains(block)),
        Use::Global(_) => false,
    })
}

/// A constant without sign.
pub fn number(value: IntValue<'_>) -> Option<u64> {
    value.get_zero_extended_constant()
}

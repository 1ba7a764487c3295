//! The parts of an `&&` or an `||`.
//!
//! ```text
//! before: a:  %q = udiv i32 %i, %n
//!             br i1 %first, label %b, label %no
//!         b:  %r = urem i32 %q, %n                                   ; waits for the branch
//!             br i1 (icmp ne i32 %r, 0), label %yes, label %no
//! after:  a:  %q = udiv i32 %i, %n
//!             %r = urem i32 %q, %n
//!             br i1 (select i1 %first, i1 (icmp ne i32 %r, 0), i1 false), label %yes, label %no
//! ```
//!
//! The second part may mean nothing where the first says no; `select` does not look at it there. It loads nothing, and
//! divides only by what is known not to be 0: `%n` has divided before, or a branch on the way here has seen to it.

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue,
};

use super::cheap::is_cheap;

/// Instructions of a second part.
const MOST_INSTRUCTIONS: usize = 12;

/// Divisions among them; only beside others, because one takes some twenty instructions.
const MOST_DIVISIONS: usize = 2;

/// How many branches back a divisor's comparison with 0 is looked for.
const MOST_BACK: usize = 16;

/// Into how many parts a condition is taken apart there.
const MOST_CONDITIONS: usize = 16;

/// Two branches, the second of which follows only the first; where they say no, both go to one block.
struct Both<'ctx> {
    head: BasicBlock<'ctx>,
    /// The block that computes the second part.
    second: BasicBlock<'ctx>,
    /// Whether the first target of the branches is where they go on.
    head_first: bool,
    second_first: bool,
}

/// Joins what can be, and says whether there was something.
pub fn join<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let builder = context.create_builder();
    let mut any = false;
    for head in function.get_basic_blocks() {
        if let Some(both) = Both::of(head) {
            both.join(context, &builder)?;
            any = true;
        }
    }
    Ok(any)
}

impl<'ctx> Both<'ctx> {
    fn of(head: BasicBlock<'ctx>) -> Option<Self> {
        let (then, other) = llvm::branch_targets(head.get_terminator()?)?;
        Self::by(head, then, other, true).or_else(|| Self::by(head, other, then, false))
    }

    fn by(head: BasicBlock<'ctx>, second: BasicBlock<'ctx>, no: BasicBlock<'ctx>, head_first: bool) -> Option<Self> {
        let end = second.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let second_first = match (then == no, other == no) {
            (false, true) => true,
            (true, false) => false,
            _ => return None,
        };
        // A panic tells which of its checks failed; those are merged elsewhere.
        let is_panic = no.get_terminator()?.get_opcode() == Op::Unreachable;
        let is_alone = second != head && llvm::predecessors(second) == [head] && llvm::phis(second).next().is_none();
        if is_panic || !is_alone || condition(end)?.is_const() {
            return None;
        }
        let told = |phi: InstructionValue<'ctx>, from: BasicBlock<'ctx>| {
            llvm::incoming(phi).into_iter().find(|(_, block)| *block == from).map(|(value, _)| value)
        };
        let is_same = llvm::phis(no).all(|phi| told(phi, head) == told(phi, second));
        let both = Self { head, second, head_first, second_first };
        (is_same && both.is_harmless()).then_some(both)
    }

    /// The second part, without its branch.
    fn part(&self) -> impl Iterator<Item = InstructionValue<'ctx>> + use<'ctx> {
        self.second.get_instructions().filter(|instruction| !instruction.is_terminator())
    }

    /// Whether the second part may be computed where the first says no.
    fn is_harmless(&self) -> bool {
        let divisions: Vec<_> = self.part().filter(|instruction| llvm::is_division(*instruction)).collect();
        let is_beside_others = divisions.is_empty() || self.head.get_instructions().any(llvm::is_division);
        self.part().count() <= MOST_INSTRUCTIONS
            && divisions.len() <= MOST_DIVISIONS
            && is_beside_others
            && self.part().all(|instruction| is_cheap(instruction) || llvm::is_division(instruction))
            && divisions.into_iter().all(|division| self.may_divide(division))
    }

    /// Whether a division cannot be by 0, nor overflow, and is of 32 bits: one of 64 is a call.
    fn may_divide(&self, division: InstructionValue<'ctx>) -> bool {
        let is_unsigned = matches!(division.get_opcode(), Op::UDiv | Op::URem);
        let Some(divisor) = llvm::int_operand(division, 1) else { return false };
        is_unsigned && divisor.get_type().get_bit_width() <= 32 && self.is_not_zero(divisor)
    }

    fn is_not_zero(&self, divisor: IntValue<'ctx>) -> bool {
        if let Some(constant) = divisor.get_zero_extended_constant() {
            return constant != 0;
        }
        let mut seen = HashSet::new();
        let mut block = self.head;
        for _ in 0..MOST_BACK {
            // Where a block ends, it has done all that is in it.
            let divides =
                |from: InstructionValue<'ctx>| llvm::is_division(from) && llvm::int_operand(from, 1) == Some(divisor);
            if block.get_instructions().any(divides) {
                return true;
            }
            let [before] = llvm::predecessors(block)[..] else { return false };
            if !seen.insert(before) {
                return false;
            }
            let Some(end) = before.get_terminator() else { return false };
            if let (Some((then, _)), Some(condition)) = (llvm::branch_targets(end), condition(end))
                && excludes_zero(condition, then == block, divisor, MOST_CONDITIONS)
            {
                return true;
            }
            block = before;
        }
        false
    }

    fn join(&self, context: &'ctx Context, builder: &Builder<'ctx>) -> Result<(), BuilderError> {
        let (Some(head), Some(second)) = (self.head.get_terminator(), self.second.get_terminator()) else {
            return Ok(());
        };
        builder.position_before(&head);
        for instruction in self.part().collect::<Vec<_>>() {
            instruction.remove_from_basic_block();
            builder.insert_instruction(&instruction, None);
        }
        let (Some(one), Some(other)) = (condition(head), condition(second)) else { return Ok(()) };
        let goes_on = |condition, first| if first { Ok(condition) } else { builder.build_not(condition, "") };
        let (one, other) = (goes_on(one, self.head_first)?, goes_on(other, self.second_first)?);
        let never = context.bool_type().const_zero();
        let all = builder.build_select(one, other, never, "")?.into_int_value();
        // The second block is left behind, empty, so that no phi needs a change but those that nothing reaches from it.
        llvm::set_condition(head, if self.head_first { all } else { builder.build_not(all, "")? });
        llvm::always_branch(context, second, self.second_first);
        Ok(())
    }
}

/// Whether a condition, which is true or not, says of a number that it is not 0.
fn excludes_zero(condition: IntValue<'_>, holds: bool, number: IntValue<'_>, steps: usize) -> bool {
    let (Some(from), true) = (condition.as_instruction(), steps > 0) else { return false };
    let either = |one: u32, other: u32| {
        [one, other].into_iter().any(|index| {
            llvm::int_operand(from, index).is_some_and(|part| excludes_zero(part, holds, number, steps / 2))
        })
    };
    match from.get_opcode() {
        Op::And if holds => either(0, 1),
        Op::Or if !holds => either(0, 1),
        Op::Select
            if holds && llvm::int_operand(from, 2).is_some_and(|no| no.get_zero_extended_constant() == Some(0)) =>
        {
            either(0, 1)
        }
        Op::Select
            if !holds && llvm::int_operand(from, 1).is_some_and(|yes| yes.get_zero_extended_constant() == Some(1)) =>
        {
            either(0, 2)
        }
        Op::Xor if llvm::int_operand(from, 1).is_some_and(|by| by.get_zero_extended_constant() == Some(1)) => {
            llvm::int_operand(from, 0).is_some_and(|inner| excludes_zero(inner, !holds, number, steps - 1))
        }
        Op::ICmp => {
            let (left, right) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1));
            let is_zero = right.and_then(IntValue::get_zero_extended_constant) == Some(0);
            match (from.get_icmp_predicate(), holds) {
                (Some(IntPredicate::NE), true) | (Some(IntPredicate::EQ), false) => left == Some(number) && is_zero,
                (Some(IntPredicate::UGT), true) | (Some(IntPredicate::ULE), false) => left == Some(number),
                (Some(IntPredicate::ULT), true) | (Some(IntPredicate::UGE), false) => right == Some(number),
                _ => false,
            }
        }
        _ => false,
    }
}

/// What a branch depends on.
fn condition(branch: InstructionValue<'_>) -> Option<IntValue<'_>> {
    llvm::int_operand(branch, 0)
}

//! A flag that says that the last round was the last of all.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, InstructionOpcode, InstructionValue,
    IntPredicate, IntValue, Use,
};
use crate::loops::natural::Loop;

use super::compared::{Less, counts, first_question, is_of, number, of_head};

/// How deep it is looked who looks at a value.
const MOST_STEPS: u32 = 6;

/// Whether nobody sees what a value is in the round that a jump ends: up to there it is computed with, and behind that only by
/// rounds that go on, or by what only they end in: a panic's message says which number it was.
fn goes_no_further<'ctx>(
    found: &Loop<'ctx>,
    value: InstructionValue<'ctx>,
    leaves: InstructionValue<'ctx>,
    steps: u32,
) -> bool {
    let is_before = |block: BasicBlock<'ctx>| {
        let next = |at: &BasicBlock<'ctx>| llvm::block_operands(at.get_terminator()?).first().copied();
        let mut ways = std::iter::successors(Some(found.head), next).take(found.blocks.len());
        ways.by_ref().take_while(|at| Some(*at) != leaves.get_parent()).any(|at| at == block)
            || Some(block) == leaves.get_parent()
    };
    let is_round = |block: BasicBlock<'ctx>| found.contains(block) && !is_before(block);
    let ends_round = |block: BasicBlock<'ctx>| {
        let from = llvm::predecessors(block);
        !found.contains(block) && !from.is_empty() && from.into_iter().all(is_round)
    };
    llvm::uses(&llvm::result(value)).into_iter().all(|user| {
        let Use::Instruction(user) = user else { return false };
        let Some(block) = user.get_parent() else { return false };
        if !found.contains(block) {
            return ends_round(block);
        }
        user == leaves
            || !is_before(block)
            || block == found.head && user.get_opcode() == InstructionOpcode::Phi
            || steps > 0 && llvm::is_pure(user) && goes_no_further(found, user, leaves, steps - 1)
    })
}

/// The flag of a loop, and the range that it counts through.
pub struct Flag<'ctx> {
    flag: InstructionValue<'ctx>,
    counter: InstructionValue<'ctx>,
    next: InstructionValue<'ctx>,
    first: Vec<(IntValue<'ctx>, BasicBlock<'ctx>)>,
    end: IntValue<'ctx>,
    is_signed: bool,
    /// The branch that leaves the loop.
    leaves: InstructionValue<'ctx>,
}

/// Both parts of a condition that holds where a flag is set, or else another condition does.
fn flag_and_rest<'ctx>(condition: IntValue<'ctx>) -> Option<(InstructionValue<'ctx>, InstructionValue<'ctx>)> {
    let from = condition.as_instruction_value()?;
    let rest = match from.get_opcode() {
        InstructionOpcode::Or => 1,
        InstructionOpcode::Select if llvm::int_operand(from, 1).and_then(number) == Some(1) => 2,
        _ => return None,
    };
    let parts =
        [llvm::int_operand(from, 0)?.as_instruction_value()?, llvm::int_operand(from, rest)?.as_instruction_value()?];
    let is_flag = |part: &InstructionValue<'ctx>| part.get_opcode() == InstructionOpcode::Phi;
    match parts {
        [flag, rest] if is_flag(&flag) => Some((flag, rest)),
        [rest, flag]
            if rest.get_opcode() != InstructionOpcode::Phi
                && is_flag(&flag)
                && from.get_opcode() == InstructionOpcode::Or =>
        {
            Some((flag, rest))
        }
        _ => None,
    }
}

impl<'ctx> Flag<'ctx> {
    /// Of a loop over a range whose end belongs to it.
    pub fn of(found: &Loop<'ctx>) -> Option<Self> {
        let leaves = first_question(found)?;
        let (outside, inside) = llvm::branch_targets(leaves)?;
        let (flag, rest) = flag_and_rest(llvm::int_operand(leaves, 0)?)?;
        if found.contains(outside) || !found.contains(inside) {
            return None;
        }
        let (of_first, last) = of_head(found, flag)?;
        let last = last.as_instruction_value()?;
        // Where it goes on, the number is at most the end.
        let within = Less::of(rest, false).filter(|within| within.or_equal)?;
        let (low, end) = (within.low, within.high);
        let counter = low.as_instruction_value()?;
        let (first, next) = of_head(found, counter)?;
        let next = next.as_instruction_value()?;
        let goes_on = Less::of(last, false).filter(|less| less.is_signed == within.is_signed);
        let is_known = of_first.iter().all(|(value, _)| number(*value) == Some(0))
            && found.is_invariant(end.into())
            && goes_on.is_some_and(|less| less.is_below(low, end))
            && counts(next, low, last)
            && is_of(found, next)
            && [flag, counter].iter().all(|value| goes_no_further(found, *value, leaves, MOST_STEPS));
        is_known.then_some(Self { flag, counter, next, first, end, is_signed: within.is_signed, leaves })
    }

    /// Has the loop end by the number alone.
    pub fn remove(&self, builder: &Builder<'ctx>, found: &Loop<'ctx>) -> Result<(), BuilderError> {
        let BasicValueEnum::IntValue(low) = llvm::result(self.counter) else { return Ok(()) };
        let more = if self.is_signed { IntPredicate::SGT } else { IntPredicate::UGT };
        builder.position_before(&self.next);
        let next = builder.build_int_add(low, low.get_type().const_int(1, false), "")?;
        let last = builder.build_int_compare(IntPredicate::EQ, low, self.end, "")?;
        builder.position_before(&self.counter);
        let (flag, counter) = (builder.build_phi(last.get_type(), "")?, builder.build_phi(low.get_type(), "")?);
        for (first, from) in &self.first {
            builder.position_before(&from.get_terminator().expect("it jumps to the loop"));
            let none = builder.build_int_compare(more, *first, self.end, "")?;
            flag.add_incoming(&[(&none, *from)]);
            counter.add_incoming(&[(first, *from)]);
        }
        for latch in &found.latches {
            flag.add_incoming(&[(&last, *latch)]);
            counter.add_incoming(&[(&next, *latch)]);
        }
        if let BasicValueEnum::IntValue(over) = flag.as_basic_value() {
            llvm::set_condition(self.leaves, over);
        }
        for (old, new) in [(self.counter, counter), (self.flag, flag)] {
            llvm::replace_uses(old, new.as_basic_value());
            old.erase_from_basic_block();
        }
        Ok(())
    }
}

//! Finds checks that follow each other.

use std::collections::HashSet;

use super::assumed::assumed_most;
use super::largest::Rising;
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntPredicate,
    IntValue,
};
use crate::loops;

/// Checks that are merged, none of which another one implies; each keeps an index for the panic.
const MOST_GROUPS: usize = 64;

/// All checks that are merged.
const MOST_CHECKS: usize = 256;

/// Instructions that one check may need and that are computed before it is known whether it is made.
const MOST_STEPS: usize = 24;

/// Blocks that say why a part of a slice is not inside.
const MOST_REASONS: usize = 6;

/// How far apart indices may be that are checked together.
const MOST_APART: u64 = 1 << 32;

/// Checks that can be made at once.
pub struct Chain<'ctx> {
    /// The block that ends in the first check.
    pub head: BasicBlock<'ctx>,
    pub checks: Vec<Check<'ctx>>,
    /// How many there are, where those that one of them implies are not counted.
    groups: usize,
}

/// A branch to a panic, or to the function's end.
pub struct Check<'ctx> {
    /// The block that ends in it.
    pub block: BasicBlock<'ctx>,
    pub condition: IntValue<'ctx>,
    /// Where it goes if all is well, and whether that is its first target.
    pub inside: BasicBlock<'ctx>,
    pub inside_first: bool,
    /// Where it goes if the check fails: a panic, or the function's end.
    pub outside: BasicBlock<'ctx>,
    /// Whether other blocks jump there too.
    pub outside_is_shared: bool,
    /// What is compared, if that is an index with a length.
    pub indexed: Option<Indexed<'ctx>>,
    /// What that index is a sum of, if it cannot wrap around.
    pub rising: Option<Rising<'ctx>>,
    /// Whether it is one of two checks of where a part of a slice begins and ends, which are made as those of two indices.
    pub is_of_part: bool,
}

/// An index that must be below a length of less than 2^63.
pub struct Indexed<'ctx> {
    /// The index is this and the offset; no base is 0.
    pub base: Option<IntValue<'ctx>>,
    pub offset: i64,
    pub len: IntValue<'ctx>,
}

impl<'ctx> Check<'ctx> {
    /// The check that a block ends in; with `ends`, one that ends the function counts too.
    pub fn of(block: BasicBlock<'ctx>, ends: bool) -> Option<Self> {
        let end = block.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let inside_first = match (leaves(then, ends), leaves(other, ends)) {
            (false, true) => true,
            (true, false) => false,
            _ => return None,
        };
        let (inside, outside) = if inside_first { (then, other) } else { (other, then) };
        let BasicValueEnum::IntValue(condition) = end.get_operand(0)?.value()? else { return None };
        let outside_is_shared = llvm::has_several_predecessors(outside);
        let (indexed, rising, is_of_part) = (None, None, false);
        Some(Self { block, condition, inside, inside_first, outside, outside_is_shared, indexed, rising, is_of_part })
    }

    /// The same with the index that is checked, for which all uses of the length are gone through.
    fn of_index(block: BasicBlock<'ctx>, ends: bool) -> Option<Self> {
        let check = Self::of(block, ends)?;
        let indexed = Indexed::of(check.condition, check.inside_first);
        let rising = indexed.as_ref().and_then(|indexed| Rising::of(indexed.base, indexed.offset));
        Some(Self { indexed, rising, ..check })
    }

    /// What a failed check does: the blocks that panic, of which the first may ask why.
    pub fn panics(&self) -> Vec<BasicBlock<'ctx>> {
        std::iter::once(self.outside).chain(reasons(self.outside).into_iter().flatten()).collect()
    }

    /// Whether LLVM promises that the index is not negative where it is compared, as the length is not.
    pub fn is_of_same_signs(&self) -> bool {
        self.condition.as_instruction_value().is_some_and(|compare| llvm::promises(compare).other)
    }

    /// Whether one comparison checks both.
    pub fn is_like(&self, other: &Self) -> bool {
        match (&self.indexed, &other.indexed) {
            (Some(one), Some(other)) => {
                one.base == other.base && one.len == other.len && one.offset.abs_diff(other.offset) < MOST_APART / 2
            }
            _ => false,
        }
    }

    /// Whether the other one does not fail where this one does not, because its index is never above.
    pub fn implies(&self, other: &Self) -> bool {
        match (&self.rising, &other.rising) {
            (Some(one), Some(than)) => self.len() == other.len() && one.reaches(than),
            _ => false,
        }
    }

    /// Whether it can be made in the place of one before it.
    pub fn can_be_made_at(&self, before: &Self, function: FunctionValue<'ctx>) -> bool {
        matches!((&self.rising, &before.rising), (Some(one), Some(first)) if one.is_known_with(first, function))
    }

    fn len(&self) -> Option<IntValue<'ctx>> {
        self.indexed.as_ref().map(|indexed| indexed.len)
    }
}

impl<'ctx> Indexed<'ctx> {
    /// Of a condition that is true, or false, where the check does not fail.
    fn of(condition: IntValue<'ctx>, holds: bool) -> Option<Self> {
        let (index, len) = compared(condition, holds, IntPredicate::ULT)?;
        Self::of_index(index, len)
    }

    fn of_index(index: IntValue<'ctx>, len: IntValue<'ctx>) -> Option<Self> {
        if len.get_type().get_bit_width() != 64 || !is_below_2_63(len) {
            return None;
        }
        let (mut base, mut offset) = (index, 0_i64);
        for _ in 0..MOST_STEPS {
            if let Some(constant) = base.get_sign_extended_constant() {
                let offset = offset.wrapping_add(constant);
                return (offset >= 0).then_some(Self { base: None, offset, len });
            }
            let Some((inner, constant)) = sum(base) else { break };
            (base, offset) = (inner, offset.wrapping_add(constant));
        }
        (offset.unsigned_abs() < MOST_APART / 4).then_some(Self { base: Some(base), offset, len })
    }
}

/// The smaller and the larger side of a comparison without a sign, if it is the wanted one, `ULT` or `ULE`, once turned so.
pub fn compared<'ctx>(
    condition: IntValue<'ctx>,
    holds: bool,
    wanted: IntPredicate,
) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let compare = condition.as_instruction_value()?;
    let (left, right) = (llvm::int_operand(compare, 0)?, llvm::int_operand(compare, 1)?);
    let (found, sides) = match (compare.get_icmp_predicate()?, holds) {
        (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => (IntPredicate::ULT, (left, right)),
        (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => (IntPredicate::ULT, (right, left)),
        (IntPredicate::ULE, true) | (IntPredicate::UGT, false) => (IntPredicate::ULE, (left, right)),
        (IntPredicate::UGE, true) | (IntPredicate::ULT, false) => (IntPredicate::ULE, (right, left)),
        _ => return None,
    };
    (found == wanted).then_some(sides)
}

/// The two indices that are inside of a slice where two checks in turn do not fail: that a part begins within, and that so many
/// elements are behind. `%at <= %len` and `%len - %at > 2` hold exactly if `%at < %len` and `%at + 2 < %len`, if the length is
/// below 2^63: where the sum wraps around, `%at` is above.
fn part<'ctx>(first: &Check<'ctx>, second: &Check<'ctx>) -> Option<[Indexed<'ctx>; 2]> {
    let (at, len) = compared(first.condition, first.inside_first, IntPredicate::ULE)?;
    let elements = |wanted, more: i64| {
        let (count, left) = compared(second.condition, second.inside_first, wanted)?;
        let count = count.get_zero_extended_constant().and_then(|count| i64::try_from(count).ok())?;
        count.checked_sub(more).filter(|last| *last >= 0).map(|last| (last, left))
    };
    let (more, left) = elements(IntPredicate::ULT, 0).or_else(|| elements(IntPredicate::ULE, 1))?;
    let left = left.as_instruction_value().filter(|from| from.get_opcode() == InstructionOpcode::Sub)?;
    if (llvm::int_operand(left, 0), llvm::int_operand(left, 1)) != (Some(len), Some(at)) {
        return None;
    }
    let begin = Indexed::of_index(at, len)?;
    let offset = begin.offset.checked_add(more).filter(|offset| offset.unsigned_abs() < MOST_APART / 4)?;
    let end = Indexed { base: begin.base, offset, len };
    Some([begin, end])
}

/// What a constant is added to, and the constant.
fn sum(value: IntValue<'_>) -> Option<(IntValue<'_>, i64)> {
    let adds = |from: &InstructionValue<'_>| {
        // LLVM writes `16 * i + 1` so.
        from.get_opcode() == InstructionOpcode::Add
            || from.get_opcode() == InstructionOpcode::Or && llvm::is_disjoint(*from)
    };
    let sum = value.as_instruction_value().filter(adds)?;
    match (sum.get_operand(0)?.value()?, sum.get_operand(1)?.value()?) {
        (BasicValueEnum::IntValue(base), BasicValueEnum::IntValue(constant)) => {
            Some((base, constant.get_sign_extended_constant()?))
        }
        _ => None,
    }
}

/// Whether LLVM is told of a value that it is small, as of every slice's length.
fn is_below_2_63(len: IntValue<'_>) -> bool {
    if len.is_const() {
        return len.get_zero_extended_constant().is_some_and(|len| i64::try_from(len).is_ok());
    }
    assumed_most(len).is_some_and(|most| i64::try_from(most).is_ok())
}

/// Whether a block ends in a panic, or does nothing but end the function: where threads past the end of a slice go.
fn leaves(block: BasicBlock<'_>, ends: bool) -> bool {
    let Some(end) = block.get_terminator() else { return false };
    match end.get_opcode() {
        InstructionOpcode::Unreachable => true,
        InstructionOpcode::Br => reasons(block).is_some(),
        InstructionOpcode::Return => ends && block.get_first_instruction() == Some(end) && end.get_num_operands() == 0,
        _ => false,
    }
}

/// Whether a block panics at once.
fn is_panic(block: BasicBlock<'_>) -> bool {
    block.get_terminator().is_some_and(|end| end.get_opcode() == InstructionOpcode::Unreachable)
}

/// The blocks of which a block does nothing but choose a panic, as where a part of a slice is not inside: it begins behind the
/// slice, or ends there, or before it begins.
fn reasons(block: BasicBlock<'_>) -> Option<Vec<BasicBlock<'_>>> {
    let mut found = Vec::from(targets(block)?);
    let mut at = 0;
    while at < found.len() {
        let of = found[at];
        at += 1;
        if at > MOST_REASONS || llvm::phis(of).next().is_some() || llvm::predecessors(of).len() != 1 {
            return None;
        }
        if of.get_terminator()?.get_opcode() != InstructionOpcode::Unreachable {
            if !of.get_instructions().all(is_quiet) {
                return None;
            }
            found.extend(targets(of)?);
        }
    }
    let asks = |i: InstructionValue<'_>| i.get_opcode() == InstructionOpcode::Phi || is_quiet(i);
    block.get_instructions().all(asks).then_some(found)
}

/// Where a block goes that asks.
fn targets(block: BasicBlock<'_>) -> Option<[BasicBlock<'_>; 2]> {
    let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
    Some([then, other])
}

/// Every chain of two checks and more; none has a block of another, or one of those that are `taken`.
pub fn chains<'ctx>(function: FunctionValue<'ctx>, mut taken: HashSet<BasicBlock<'ctx>>) -> Vec<Chain<'ctx>> {
    let mut found = Vec::new();
    // In a short function the first load should come soon. Before a loop a register counts more: ptxas holds itself to 32 in
    // many kernels, and where these do not suffice, it waits for each load of a loop before the next.
    let ends = !loops::has_loops(function);
    // A chain is found from its first block, which comes first in the order of LLVM's passes.
    for head in function.get_basic_blocks() {
        if taken.contains(&head) {
            continue;
        }
        let Some(first) = Check::of_index(head, ends) else { continue };
        let mut chain = Chain { head, checks: vec![first], groups: 1 };
        while let Some(next) = chain.next(ends) {
            chain.push(next);
        }
        if chain.checks.len() > 1 {
            taken.extend(chain.checks.iter().map(|check| check.block));
            found.push(chain);
        }
    }
    found
}

impl<'ctx> Chain<'ctx> {
    fn push(&mut self, mut next: Check<'ctx>) {
        if let Some(last) = self.checks.last_mut().filter(|last| !last.is_of_part)
            && let Some([begin, end]) = part(last, &next)
        {
            (last.indexed, next.indexed) = (Some(begin), Some(end));
            (last.is_of_part, next.is_of_part) = (true, true);
        }
        if !self.checks.iter().any(|check| check.implies(&next) || next.implies(check)) {
            self.groups += 1;
        }
        self.checks.push(next);
    }

    /// The check behind the last, if it can be made before the first.
    fn next(&self, ends: bool) -> Option<Check<'ctx>> {
        let last = self.checks.last()?;
        let block = last.inside;
        let is_full = self.checks.len() == MOST_CHECKS || self.groups == MOST_GROUPS;
        if is_full || block == self.head || llvm::predecessors(block) != [last.block] {
            return None;
        }
        let check = Check::of_index(block, ends)?;
        let blocks: HashSet<BasicBlock<'ctx>> =
            self.checks[1..].iter().map(|check| check.block).chain([block]).collect();
        let operands = |i: InstructionValue<'ctx>| llvm::value_operands(i).map(|(_, value)| value);
        let told: Vec<BasicValueEnum<'ctx>> = if check.outside_is_shared {
            // What is computed in one of the blocks, and used there without a phi, would be known no more.
            let is_known = |value: BasicValueEnum<'ctx>| {
                let from = value.as_instruction_value();
                from.and_then(|from| from.get_parent()).is_none_or(|block| !blocks.contains(&block))
            };
            let uses = check.panics().into_iter().flat_map(|block| block.get_instructions());
            let uses = uses.filter(|i| i.get_opcode() != InstructionOpcode::Phi);
            if !uses.flat_map(operands).all(is_known) {
                return None;
            }
            let from = |phi| llvm::incoming(phi).into_iter().find(|(_, from)| *from == block);
            llvm::phis(check.outside).filter_map(from).map(|(value, _)| value).collect()
        } else {
            check.panics().into_iter().flat_map(|block| block.get_instructions()).flat_map(operands).collect()
        };
        let needed = || told.iter().copied().chain([check.condition.into()]);
        // Where parts of slices begin and end are many numbers; before and in a loop a register counts more.
        if !ends && !is_panic(check.outside) && !needed().all(|value| can_be_copied(value, &blocks, &mut 0)) {
            return None;
        }
        let quiet = block.get_instructions().all(is_quiet);
        (quiet && needed().all(|value| can_be_copied(value, &blocks, &mut { MOST_STEPS }))).then_some(check)
    }

    /// The blocks in which what is computed is not known at the first check.
    pub fn behind(&self) -> HashSet<BasicBlock<'ctx>> {
        self.checks[1..].iter().map(|check| check.block).collect()
    }
}

/// Whether nobody notices when an instruction is left out, but by its result.
fn is_quiet(instruction: InstructionValue<'_>) -> bool {
    llvm::is_pure(instruction)
        || llvm::is_position(instruction)
        || llvm::is_division(instruction)
        || llvm::is_plain_load(instruction)
        || matches!(instruction.get_opcode(), InstructionOpcode::Br | InstructionOpcode::Freeze)
        || llvm::called_function(instruction).is_some_and(|callee| callee.get_name() == c"llvm.assume")
}

/// Whether a value can be computed before the blocks, within a number of steps.
pub fn can_be_copied<'ctx>(value: BasicValueEnum<'ctx>, blocks: &HashSet<BasicBlock<'ctx>>, steps: &mut usize) -> bool {
    let Some(from) = value.as_instruction_value() else { return true };
    if from.get_parent().is_none_or(|block| !blocks.contains(&block)) {
        return true;
    }
    if *steps == 0 || !(llvm::is_pure(from) || llvm::is_position(from)) {
        return false;
    }
    *steps -= 1;
    llvm::value_operands(from).all(|(_, operand)| can_be_copied(operand, blocks, steps))
}

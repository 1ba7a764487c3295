//! Splits loops whose rounds check an index, into one without these checks and the loop as it was.
//!
//! ```text
//! before: loop: %k = phi i64 [ 0, %before ], [ %next, %inside ]
//!               %index = add i64 (mul i64 %k, %n), %column
//!               br i1 (icmp ult i64 %index, %len), label %inside, label %panic
//!         inside:  …
//!               br i1 (icmp eq i64 %next, %n), label %end, label %loop
//! after:  before:  br i1 %all_inside, label %fast, label %loop
//!         fast:    …                                        ; the same, with `br i1 true` for the check
//!         loop:    …                                        ; as it was
//! ```
//!
//! A loop that can end in a panic has two ends, and neither LLVM nor ptxas unrolls it: a matrix product had one
//! multiplication a round where nvcc has sixteen. `%all_inside` is computed once: with `b` for how often the loop jumps back
//! at most, an index that begins at `i` and grows by `s` a round is `i + b × s` at last. If that neither overflows nor
//! reaches `%len`, no smaller one does, and no check of the fast loop fails. Else the loop runs as it was written: it panics
//! in the same round, with the same numbers and after the same stores. A negative step is a large number, which overflows.
//!
//! So is where a part of a slice begins, as `&x[k * n..][..n]`, and what it leaves of the slice: where the last one is
//! no more than `%len` and leaves enough, all before are less and leave more. Of a part `&x[k * n..(k + 1) * n]` both
//! ends grow alike. What is the same in all rounds is asked with the rest. Where LLVM has found
//! that to be all, it leaves it in the loop if the panic tells the number of the round: `for k in (0..n).rev() { … c[k] … }`.
//!
//! An index that does not grow alike may still be known to be at most some number: see [`super::bounds`].
//!
//! What a loop asks to end otherwise is a check too: of `skip(i).step_by(n).take(rows)`, the copy ends behind so many rows,
//! if the slice has them. Of `while k < n && left > 0` one part is counted, and the other has to hold wherever the loop jumps
//! back, so in all rounds but the last. What ends at an address, which the copy counts, is in [`super::meetings`], what is
//! asked of more than one number in [`super::simpler`].
//!
//! A loop may also end by something of which nothing is known, as a search that has found what it looks for: then it makes
//! fewer rounds.
//!
//! What goes into the test is frozen: a value may be undefined where the loop would not have looked at it, as a bound is
//! that is compared only after a panic. Whatever number it then is, the test covers the first round, and in a later one the
//! loop itself would have branched on what is undefined.
//!
//! Not where something convergent is in the loop: threads of a warp may take different loops, and would meet at different
//! barriers.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntPredicate, IntValue, Intrinsic, Module, Unroll,
};

use super::addresses::Walk;
use super::branches::{Branch, conditions, is_convergent};
use super::guards::guards;
use super::limits::{Limit, opposite, order};
use super::meetings::Meeting;
use super::natural::{Graph, Loop, SimpleForm};

/// Rounds of a loop that LLVM makes straight code of, and instructions of that.
const FEW_ROUNDS: usize = 9;
const STRAIGHT: usize = 256;

/// Instructions of a loop that is copied.
const MOST_INSTRUCTIONS: usize = 150;

/// Checks that are looked at in one loop; each takes half a dozen instructions before it.
const MOST_CHECKS: usize = 6;

/// How deep an index may be computed.
const MOST_STEPS: u32 = 8;

/// Splits every innermost loop of a function where all that is needed is known before it; returns the blocks that end in the
/// tests. Before, [`super::natural::simplify`] has run.
pub(super) fn split_innermost<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
    function: FunctionValue<'ctx>,
) -> Result<Vec<BasicBlock<'ctx>>> {
    let mut tests = Vec::new();
    // Loops have no block in common, and splitting one moves none of another.
    for found in Graph::of(function).innermost() {
        tests.extend(split_one(context, module, form, function, &found).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot split a loop for its checks: {error}"))
        })?);
    }
    Ok(tests)
}

/// Splits a loop, and returns the block that ends in the test, if it does; the first place where that goes to is the copy.
fn split_one<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> Result<Option<BasicBlock<'ctx>>, BuilderError> {
    if !may_be_split(context, found, MOST_INSTRUCTIONS) {
        return Ok(None);
    }
    let Some(shape) = Shape::of_part(function, found) else { return Ok(None) };
    // Of straight code all checks are asked at once, whatever their indices are.
    if shape.becomes_straight() {
        return Ok(None);
    }
    let checks: Vec<Check<'ctx>> =
        found.blocks.iter().filter_map(|block| shape.checks(*block)).take(MOST_CHECKS).flatten().collect();
    let ends = shape.ends();
    // LLVM moves what is the same in all rounds before the loop, if nothing else is in its way, as a number that a panic tells.
    if checks.iter().chain(&ends).all(|check| matches!(check.limit, Limit::Always { .. }))
        && !checks.iter().any(|check| tells_a_round(found, check.block))
    {
        return Ok(None);
    }
    let Some(end) = shape.before.get_terminator() else { return Ok(None) };
    form.lose();
    let builder = context.create_builder();
    builder.position_before(&end);
    let emit = Emit { context, module, builder, shape: &shape };
    let rounds = llvm::build_freeze(&emit.builder, emit.jumps_back()?);
    let mut all = context.bool_type().const_int(1, false);
    let graph = Graph::of(function);
    // Within another loop, the test is to be one that can be asked before that.
    let is_within = graph.loops().iter().any(|other| other.contains(shape.before));
    for check in &checks {
        let holds = emit.stays_below(check, rounds)?;
        let guards = if is_within { Vec::new() } else { guards(shape.found, &graph, check.block) };
        let holds = emit.or_not_reached(holds, guards)?;
        all = emit.builder.build_and(all, holds, "")?;
    }
    // The last round ends by what is counted.
    let before_last = if ends.is_empty() { rounds } else { emit.call("llvm.usub.sat", rounds, one(rounds))? };
    for end in &ends {
        let holds = emit.stays_below(end, before_last)?;
        all = emit.builder.build_and(all, holds, "")?;
    }
    let copies = llvm::copy_blocks(context, function, &found.blocks);
    end.erase_from_basic_block();
    emit.builder.position_at_end(shape.before);
    emit.builder.build_conditional_branch(all, copies[0], found.head)?;
    let number = |block: BasicBlock<'ctx>| found.blocks.iter().position(|known| *known == block);
    for check in &checks {
        if let Some(end) = number(check.block).and_then(|at| copies[at].get_terminator()) {
            llvm::always_branch(context, end, check.inside_first);
        }
    }
    let latches: Vec<InstructionValue<'ctx>> =
        found.latches.iter().filter_map(|latch| copies[number(*latch)?].get_terminator()).collect();
    if let (Some(compared), [latch]) = (found.copy_of(&copies, shape.compared), &latches[..]) {
        let mut counts = llvm::result(compared).into_int_value();
        if let Counts::Address(_) = shape.counts {
            counts = emit.count(copies[0], *latch, compared, rounds)?;
        }
        if !ends.is_empty() {
            llvm::set_condition(*latch, counts);
        }
    }
    llvm::forget_loop(context, &latches);
    // The loop as it was runs where it panics, or for few rounds.
    llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
    Ok(Some(shape.before))
}

/// Whether there may be a second copy of a loop: it was not split, nor has LLVM unrolled it in spite of its checks, it is no
/// longer than that, and it does nothing that threads must do together.
pub(super) fn may_be_split<'ctx>(context: &'ctx Context, found: &Loop<'ctx>, most_instructions: usize) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    !llvm::unroll_is_disabled(context, &found.jumps_back())
        && instructions().take(most_instructions + 1).count() <= most_instructions
        && !instructions().any(is_convergent)
}

/// Whether what is behind an end of a loop looks at something that the loop changes.
fn tells_a_round<'ctx>(found: &Loop<'ctx>, block: BasicBlock<'ctx>) -> bool {
    let outside = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
    outside.into_iter().filter(|to| !found.contains(*to)).any(|to| {
        llvm::phis(to).any(|phi| llvm::incoming_from(phi, block).is_some_and(|value| !found.is_invariant(value)))
    })
}

/// What a loop counts.
pub(super) struct Shape<'a, 'ctx> {
    pub(super) found: &'a Loop<'ctx>,
    /// The block that jumps to the head and nowhere else.
    pub(super) before: BasicBlock<'ctx>,
    /// What is compared in the one block that jumps back.
    counts: Counts<'ctx>,
    /// Whether it goes on where the condition holds.
    goes_on: bool,
    /// The comparison itself.
    compared: InstructionValue<'ctx>,
    /// Whether what is frozen in a round may be taken for what it is frozen from.
    sees_frozen: bool,
}

/// What a loop compares to end.
enum Counts<'ctx> {
    Number(Number<'ctx>),
    Address(Meeting<'ctx>),
}

/// A number that is counted.
#[derive(Clone, Copy)]
pub(super) struct Number<'ctx> {
    pub(super) counter: IntValue<'ctx>,
    pub(super) bound: IntValue<'ctx>,
    /// The loop goes on while the counter is not the bound; else, while it is below.
    pub(super) until_equal: bool,
}

/// A branch out of the loop an index is within a length.
pub(super) struct Check<'ctx> {
    pub(super) block: BasicBlock<'ctx>,
    pub(super) index: IntValue<'ctx>,
    pub(super) len: IntValue<'ctx>,
    pub(super) limit: Limit<'ctx>,
    /// Whether the branch's first target is in the loop.
    pub(super) inside_first: bool,
}

/// What an instruction does; a sum of numbers that have no bit in common is one, as `2 * k + 1` is to LLVM.
fn opcode(from: InstructionValue<'_>) -> InstructionOpcode {
    if llvm::is_disjoint(from) { InstructionOpcode::Add } else { from.get_opcode() }
}

/// The one block that jumps back.
fn single<'ctx>(latches: &[BasicBlock<'ctx>]) -> Option<BasicBlock<'ctx>> {
    match latches {
        [latch] => Some(*latch),
        _ => None,
    }
}

/// Whether what is compared has the width of an index.
fn is_wide(branch: &Branch<'_>) -> bool {
    has_bits(branch, 64)
}

fn has_bits(branch: &Branch<'_>, bits: u32) -> bool {
    branch.left.get_type().get_bit_width() == bits
}

fn one(like: IntValue<'_>) -> IntValue<'_> {
    like.get_type().const_int(1, false)
}

impl<'a, 'ctx> Shape<'a, 'ctx> {
    pub(super) fn of(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let branch = Branch::of(single(&found.latches)?)?;
        Self::of_branch(function, found, &branch, 64)
    }

    /// The same, for a loop that may also end by something else that is asked at its end: a search counts no further than
    /// this, but may find what it looks for. Or it ends at an address.
    fn of_part(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let latch = single(&found.latches)?;
        let parts = Branch::parts(latch, found.head);
        let shape = parts.iter().flatten().find_map(|branch| Self::of_branch(function, found, branch, 64));
        shape.or_else(|| {
            let conditions = conditions(latch, found.head).into_iter().flatten();
            conditions.into_iter().find_map(|condition| Self::of_address(function, found, condition))
        })
    }

    /// The same, for a loop that ends by nothing else.
    pub(super) fn of_any(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let end = single(&found.latches)?.get_terminator()?;
        let condition = || llvm::int_operand(end, 0)?.as_instruction_value();
        Self::of(function, found).or_else(|| Self::of_address(function, found, condition()?))
    }

    fn of_address(
        function: FunctionValue<'ctx>,
        found: &'a Loop<'ctx>,
        compared: InstructionValue<'ctx>,
    ) -> Option<Self> {
        let (then, other) = llvm::branch_targets(single(&found.latches)?.get_terminator()?)?;
        let goes_on = then == found.head;
        let until = if goes_on { IntPredicate::NE } else { IntPredicate::EQ };
        if goes_on == (other == found.head) || compared.get_icmp_predicate() != Some(until) {
            return None;
        }
        let before = Graph::of(function).block_before(found)?;
        let counts = Counts::Address(Meeting::of(found, compared)?);
        Some(Self { found, before, counts, goes_on, compared, sees_frozen: false })
    }

    /// The same, for a loop that counts in 32 bits.
    pub(super) fn of_narrow(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let branch = Branch::of(single(&found.latches)?)?;
        Self::of_branch(function, found, &branch, 32)
    }

    /// The same, where what is frozen is only compared: then it may be any number, also what it is frozen from.
    pub(super) fn through_frozen(self) -> Self {
        Self { sees_frozen: true, ..self }
    }

    pub(super) fn sees_frozen(&self) -> bool {
        self.sees_frozen
    }

    /// Whether the loop goes on where its condition holds.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Whether a number as wide as the counter is a first one and the same growth in every round.
    pub(super) fn grows(&self, value: IntValue<'ctx>) -> bool {
        self.is_affine(value, MOST_STEPS)
    }

    fn of_branch(
        function: FunctionValue<'ctx>,
        found: &'a Loop<'ctx>,
        branch: &Branch<'ctx>,
        bits: u32,
    ) -> Option<Self> {
        let before = Graph::of(function).block_before(found)?;
        if !has_bits(branch, bits) {
            return None;
        }
        let goes_on = branch.then == found.head;
        if goes_on == (branch.other == found.head) {
            return None;
        }
        let (mut counter, mut bound, mut until_equal) = (branch.left, branch.right, true);
        match (branch.predicate, goes_on) {
            (IntPredicate::EQ, false) | (IntPredicate::NE, true) => {
                if found.is_invariant(counter.into()) {
                    std::mem::swap(&mut counter, &mut bound);
                }
            }
            (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => until_equal = false,
            (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => {
                until_equal = false;
                std::mem::swap(&mut counter, &mut bound);
            }
            _ => return None,
        }
        let counts = Counts::Number(Number { counter, bound, until_equal });
        let shape = Self { found, before, counts, goes_on, compared: branch.condition, sees_frozen: false };
        let step = shape.constant_step(counter, MOST_STEPS)?;
        let counts = if until_equal { step == 1 || step == -1 } else { step == 1 };
        (counts && shape.is_invariant(bound)).then_some(shape)
    }

    /// What is counted, if that is a number.
    pub(super) fn number(&self) -> Option<Number<'ctx>> {
        match self.counts {
            Counts::Number(number) => Some(number),
            Counts::Address(_) => None,
        }
    }

    /// What is compared, in the first round: a value and a constant more; and its constant growth.
    pub(super) fn counter_at_first(&self) -> Option<(IntValue<'ctx>, i64, i64)> {
        let Number { counter, .. } = self.number()?;
        if let Some((first, step)) = self.counted(counter) {
            return Some((first, 0, step.get_sign_extended_constant()?));
        }
        let sum = counter.as_instruction_value().filter(|sum| sum.get_opcode() == InstructionOpcode::Add)?;
        let more = llvm::int_operand(sum, 1)?.get_sign_extended_constant()?;
        let (first, step) = self.counted(llvm::int_operand(sum, 0)?)?;
        Some((first, more, step.get_sign_extended_constant()?))
    }

    /// How many rounds it has, if that is a constant.
    pub(super) fn constant_rounds(&self) -> Option<usize> {
        let bound = self.number()?.bound.get_sign_extended_constant()?;
        let (first, more, step) = self.counter_at_first()?;
        let way = bound.checked_sub(first.get_sign_extended_constant()?.checked_add(more)?)?;
        usize::try_from(way.checked_div(step)?).ok()?.checked_add(1)
    }

    /// Whether it has so few rounds that LLVM makes straight code of it.
    pub(super) fn becomes_straight(&self) -> bool {
        let instructions = || self.found.blocks.iter().map(|block| block.get_instructions().count()).sum::<usize>();
        self.constant_rounds().is_some_and(|rounds| rounds <= FEW_ROUNDS && rounds * instructions() <= STRAIGHT)
    }

    pub(super) fn is_invariant(&self, value: IntValue<'ctx>) -> bool {
        value
            .as_instruction_value()
            .is_none_or(|from| from.get_parent().is_none_or(|block| !self.found.contains(block)))
    }

    /// The check that a block ends in, if it is one.
    pub(super) fn check(&self, block: BasicBlock<'ctx>) -> Option<Check<'ctx>> {
        let mut all = self.checks(block)?.into_iter();
        all.next().filter(|_| all.next().is_none())
    }

    /// The checks that a block ends in, all of which have to hold.
    fn checks(&self, block: BasicBlock<'ctx>) -> Option<Vec<Check<'ctx>>> {
        let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
        let stays = |block: BasicBlock<'ctx>| self.found.contains(block) && block != self.found.head;
        let (inside, outside) = if stays(then) { (then, other) } else { (other, then) };
        if !stays(inside) || self.found.contains(outside) {
            return None;
        }
        let mut all = Vec::new();
        for part in Branch::parts(block, inside) {
            for branch in self.simpler(part?, inside == then) {
                all.push(self.part(block, &branch, inside == then)?);
            }
        }
        Some(all)
    }

    /// What else has to hold where the loop jumps back: `while k < n && left > 0`. None, if something of that is not known.
    fn ends(&self) -> Vec<Check<'ctx>> {
        let Some(latch) = single(&self.found.latches) else { return Vec::new() };
        let mut all = Vec::new();
        let parts = conditions(latch, self.found.head).into_iter().zip(Branch::parts(latch, self.found.head));
        for (condition, part) in parts {
            if condition == Some(self.compared) {
                continue;
            }
            let Some(part) = part else { return Vec::new() };
            for branch in self.simpler(part, self.goes_on) {
                let Some(check) = self.part(latch, &branch, self.goes_on) else { return Vec::new() };
                all.push(check);
            }
        }
        all
    }

    /// How an address grows that is looked at as a number.
    fn walk(&self, value: IntValue<'ctx>) -> Option<Walk<'ctx>> {
        Walk::of_number(self.found, value)
    }

    fn part(&self, block: BasicBlock<'ctx>, branch: &Branch<'ctx>, inside_first: bool) -> Option<Check<'ctx>> {
        let made = |index, len, limit| Some(Check { block, index, len, limit, inside_first });
        if self.is_invariant(branch.left) && self.is_invariant(branch.right) {
            let predicate = if inside_first { branch.predicate } else { opposite(branch.predicate) };
            return made(branch.left, branch.right, Limit::Always { predicate });
        }
        if !is_wide(branch) {
            return None;
        }
        if let Some((index, len, down)) = self.unequal(branch, inside_first) {
            return made(index, len, Limit::Not { down });
        }
        let (low, high, strict) = order(branch, inside_first)?;
        let is_index = |value| !self.is_invariant(value) && self.is_affine(value, MOST_STEPS);
        if self.is_invariant(high) {
            if is_index(low) {
                return made(low, high, if strict { Limit::Below } else { Limit::UpTo });
            }
            return self.bound(low).and_then(|_| made(low, high, Limit::Bounded { strict }));
        }
        if is_index(low) && is_index(high) {
            return made(low, high, Limit::Beside { strict });
        }
        if !self.is_invariant(low) {
            return None;
        }
        if let Some(rest) = high.as_instruction_value().filter(|rest| rest.get_opcode() == InstructionOpcode::Sub)
            && let (len, index) = (llvm::int_operand(rest, 0)?, llvm::int_operand(rest, 1)?)
            && self.is_invariant(len)
            && is_index(index)
        {
            return made(index, len, Limit::Leaves { count: low, more: strict });
        }
        let (left, shift) = self.shrinking(high)?;
        made(left, low, Limit::Keeps { shift, more: strict })
    }

    /// What grows by 1, or shrinks, and is another number than one that does not change, where a comparison holds, or where it
    /// does not.
    fn unequal(&self, branch: &Branch<'ctx>, holds: bool) -> Option<(IntValue<'ctx>, IntValue<'ctx>, bool)> {
        if branch.predicate != if holds { IntPredicate::NE } else { IntPredicate::EQ } {
            return None;
        }
        let both = [(branch.left, branch.right), (branch.right, branch.left)];
        both.into_iter().find_map(|(index, other)| {
            let step = self.constant_step(index, MOST_STEPS).filter(|step| [1, -1].contains(step))?;
            let is_known = self.is_invariant(other) && self.is_affine(index, MOST_STEPS);
            is_known.then_some((index, other, step < 0))
        })
    }

    /// A number that each round adds to: its first value, and what is added.
    pub(super) fn counted(&self, value: IntValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        let (first, next) = self.of_head(value)?;
        // One that is a round behind another.
        if let Some((ahead, step)) = self.counted_at_once(next) {
            let constants = [first, ahead, step].map(|value| value.get_sign_extended_constant());
            let is_sum = match constants {
                [Some(behind), Some(ahead), Some(growth)] => behind.wrapping_add(growth) == ahead,
                _ => ahead.as_instruction_value().is_some_and(|sum| {
                    let parts = (llvm::int_operand(sum, 0), llvm::int_operand(sum, 1));
                    let both = [(Some(first), Some(step)), (Some(step), Some(first))];
                    sum.get_opcode() == InstructionOpcode::Add && both.contains(&parts)
                }),
            };
            return is_sum.then_some((first, step));
        }
        self.sum(value, first, next)
    }

    /// What a phi of the head is at first, and in the next round.
    pub(super) fn of_head(&self, value: IntValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        let from = value.as_instruction_value()?;
        if from.get_opcode() != InstructionOpcode::Phi || from.get_parent() != Some(self.found.head) {
            return None;
        }
        let (mut first, mut next) = (None, None);
        for (value, block) in llvm::incoming(from) {
            let BasicValueEnum::IntValue(value) = value else { return None };
            *if self.found.contains(block) { &mut next } else { &mut first } = Some(value);
        }
        Some((first?, next?))
    }

    /// The same, for one that is added to in the loop itself.
    fn counted_at_once(&self, value: IntValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        let (first, next) = self.of_head(value)?;
        self.sum(value, first, next)
    }

    fn sum(
        &self,
        value: IntValue<'ctx>,
        first: IntValue<'ctx>,
        next: IntValue<'ctx>,
    ) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == InstructionOpcode::Add)?;
        let (left, right) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
        let step = if left == value {
            right
        } else if right == value {
            left
        } else {
            return None;
        };
        self.is_invariant(step).then_some((first, step))
    }

    /// Whether a value is a first one and the same growth in every round.
    fn is_affine(&self, value: IntValue<'ctx>, steps: u32) -> bool {
        let bits = self.number().map_or(64, |number| number.counter.get_type().get_bit_width());
        if value.get_type().get_bit_width() != bits || steps == 0 {
            return false;
        }
        if self.is_invariant(value) || self.counted(value).is_some() || self.walk(value).is_some() {
            return true;
        }
        let Some(from) = value.as_instruction_value() else { return false };
        let parts = || Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?));
        match (opcode(from), parts()) {
            (InstructionOpcode::Add | InstructionOpcode::Sub, Some((left, right))) => {
                self.is_affine(left, steps - 1) && self.is_affine(right, steps - 1)
            }
            (InstructionOpcode::Mul, Some((left, right))) => {
                self.is_affine(left, steps - 1) && self.is_invariant(right)
                    || self.is_invariant(left) && self.is_affine(right, steps - 1)
            }
            (InstructionOpcode::Shl, Some((left, right))) => {
                self.is_invariant(right) && self.is_affine(left, steps - 1)
            }
            _ => false,
        }
    }

    /// By how much a value grows, if that is a constant.
    pub(super) fn constant_step(&self, value: IntValue<'ctx>, steps: u32) -> Option<i64> {
        if self.is_invariant(value) || steps == 0 {
            return None;
        }
        if let Some((_, step)) = self.counted(value) {
            return step.get_sign_extended_constant();
        }
        let from = value.as_instruction_value()?;
        let (left, right) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
        match opcode(from) {
            InstructionOpcode::Add if self.is_invariant(right) => self.constant_step(left, steps - 1),
            InstructionOpcode::Add if self.is_invariant(left) => self.constant_step(right, steps - 1),
            InstructionOpcode::Sub if self.is_invariant(right) => self.constant_step(left, steps - 1),
            _ => None,
        }
    }
}

/// Writes what is computed before the loop.
pub(super) struct Emit<'a, 'ctx> {
    pub(super) context: &'ctx Context,
    pub(super) module: &'a Module<'ctx>,
    pub(super) builder: Builder<'ctx>,
    pub(super) shape: &'a Shape<'a, 'ctx>,
}

impl<'ctx> Emit<'_, 'ctx> {
    /// A value's first one, and its growth.
    pub(super) fn affine(&self, value: IntValue<'ctx>) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
        let none = value.get_type().const_zero();
        if self.shape.is_invariant(value) {
            return Ok((value, none));
        }
        if let Some(counted) = self.shape.counted(value) {
            return Ok(counted);
        }
        if let Some(walk) = self.shape.walk(value) {
            return walk.affine(&self.builder, value.get_type());
        }
        let from = value.as_instruction_value().expect("what is not invariant is computed in the loop");
        let part = |index| llvm::int_operand(from, index).expect("`is_affine` saw two integers");
        let (left, right) = (self.affine(part(0))?, self.affine(part(1))?);
        let builder = &self.builder;
        Ok(match opcode(from) {
            InstructionOpcode::Add => {
                (builder.build_int_add(left.0, right.0, "")?, builder.build_int_add(left.1, right.1, "")?)
            }
            InstructionOpcode::Sub => {
                (builder.build_int_sub(left.0, right.0, "")?, builder.build_int_sub(left.1, right.1, "")?)
            }
            InstructionOpcode::Shl => {
                (builder.build_left_shift(left.0, right.0, "")?, builder.build_left_shift(left.1, right.0, "")?)
            }
            // One of both does not grow.
            _ => {
                let first = builder.build_int_mul(left.0, right.0, "")?;
                let growth = if self.shape.is_invariant(part(1)) {
                    builder.build_int_mul(left.1, right.0, "")?
                } else {
                    builder.build_int_mul(left.0, right.1, "")?
                };
                (first, growth)
            }
        })
    }

    /// Has a copy of the loop count how often it jumps back in place of comparing addresses, since LLVM may not see when they
    /// meet; returns what it compares.
    fn count(
        &self,
        head: BasicBlock<'ctx>,
        jump: InstructionValue<'ctx>,
        compared: InstructionValue<'ctx>,
        rounds: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let first = head.get_first_instruction().expect("a block ends");
        let latch = jump.get_parent().expect("it ends a block");
        self.builder.position_before(&first);
        let phi = self.builder.build_phi(rounds.get_type(), "")?;
        let round = phi.as_basic_value().into_int_value();
        self.builder.position_before(&jump);
        let next = self.builder.build_int_nuw_add(round, one(round), "")?;
        phi.add_incoming(&[(&rounds.get_type().const_zero(), self.shape.before), (&next, latch)]);
        let until = if self.shape.goes_on { IntPredicate::NE } else { IntPredicate::EQ };
        self.builder.position_before(&compared);
        let condition = self.builder.build_int_compare(until, round, rounds, "")?;
        llvm::replace_uses(compared, condition.into());
        Ok(condition)
    }

    /// How often the loop jumps back at most.
    pub(super) fn jumps_back(&self) -> Result<IntValue<'ctx>, BuilderError> {
        let Number { counter, bound, until_equal } = match &self.shape.counts {
            Counts::Number(number) => *number,
            Counts::Address(meeting) => return meeting.round(&self.builder, self.context.i64_type()),
        };
        let (first, step) = self.affine(counter)?;
        if !until_equal {
            return self.call("llvm.usub.sat", bound, first);
        }
        match step.get_sign_extended_constant() {
            Some(1) => self.builder.build_int_sub(bound, first, ""),
            _ => self.builder.build_int_sub(first, bound, ""),
        }
    }

    pub(super) fn overflowing(
        &self,
        name: &str,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
    ) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
        let function = self.intrinsic(name, left);
        let pair = self.builder.build_call(function, &[left.into(), right.into()], "")?.try_as_basic_value();
        let pair = pair.unwrap_basic().into_struct_value();
        let part = |index| self.builder.build_extract_value(pair, index, "").map(BasicValueEnum::into_int_value);
        Ok((part(0)?, part(1)?))
    }

    pub(super) fn call(
        &self,
        name: &str,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let call = self.builder.build_call(self.intrinsic(name, left), &[left.into(), right.into()], "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }

    fn intrinsic(&self, name: &str, of: IntValue<'ctx>) -> FunctionValue<'ctx> {
        let word = of.get_type().into();
        let found = Intrinsic::find(name).and_then(|intrinsic| intrinsic.get_declaration(self.module, &[word]));
        found.expect("LLVM has its intrinsics")
    }
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;

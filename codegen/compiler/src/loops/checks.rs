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
//! ends grow alike. What is the same in all rounds is asked with the rest.
//!
//! A loop may also end by something else, as a search that has found what it looks for: then it makes fewer rounds.
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
    InstructionValue, IntPredicate, IntValue, Intrinsic, Module, TargetMachine, Unroll,
};
use crate::settled;

use super::branches::{Branch, integer, is_convergent, panics};
use super::limits::{Limit, opposite, order};
use super::natural::{self, Graph, Loop};

/// Instructions of a loop that is copied.
const MOST_INSTRUCTIONS: usize = 150;

/// Checks that are looked at in one loop; each takes half a dozen instructions before it.
const MOST_CHECKS: usize = 6;

/// How deep an index may be computed.
const MOST_STEPS: u32 = 8;

/// Splits every loop where all that is needed is known before it.
pub fn split<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    natural::simplify(module, machine)?;
    for function in settled::open(module) {
        // Loops have no block in common, and splitting one moves none of another.
        for found in Graph::of(function).innermost() {
            split_one(context, module, function, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot split a loop for its checks: {error}"))
            })?;
        }
    }
    Ok(())
}

fn split_one<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> Result<(), BuilderError> {
    // It was split, or LLVM unrolled it in spite of its checks.
    if llvm::unroll_is_disabled(context, &found.jumps_back()) {
        return Ok(());
    }
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    if instructions().take(MOST_INSTRUCTIONS + 1).count() > MOST_INSTRUCTIONS || instructions().any(is_convergent) {
        return Ok(());
    }
    let Some(shape) = Shape::of_part(function, found) else { return Ok(()) };
    let checks: Vec<Check<'ctx>> =
        found.blocks.iter().filter_map(|block| shape.checks(*block)).take(MOST_CHECKS).flatten().collect();
    // LLVM moves what is the same in all rounds before the loop, if nothing else is in its way.
    if checks.iter().all(|check| matches!(check.limit, Limit::Always { .. })) {
        return Ok(());
    }
    let Some(end) = shape.before.get_terminator() else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&end);
    let emit = Emit { context, module, builder, shape: &shape };
    let rounds = llvm::build_freeze(&emit.builder, emit.jumps_back()?);
    let mut all = context.bool_type().const_int(1, false);
    for check in &checks {
        let holds = emit.stays_below(check, rounds)?;
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
    llvm::forget_loop(context, &latches);
    // The loop as it was runs where it panics, or for few rounds.
    llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
    Ok(())
}

/// What a loop counts.
pub(super) struct Shape<'a, 'ctx> {
    pub(super) found: &'a Loop<'ctx>,
    /// The block that jumps to the head and nowhere else.
    pub(super) before: BasicBlock<'ctx>,
    /// What is compared in the one block that jumps back, and with what.
    pub(super) counter: IntValue<'ctx>,
    pub(super) bound: IntValue<'ctx>,
    /// The loop goes on while the counter is not the bound; else, while it is below.
    pub(super) until_equal: bool,
    /// Whether it goes on where the condition holds.
    goes_on: bool,
}

/// A branch out of the loop, to a panic, unless an index is within a length.
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

impl<'a, 'ctx> Shape<'a, 'ctx> {
    pub(super) fn of(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let branch = Branch::of(single(&found.latches)?)?;
        Self::of_branch(function, found, &branch, 64)
    }

    /// The same, for a loop that may also end by something else that is asked at its end: a search counts no further than
    /// this, but may find what it looks for.
    fn of_part(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let parts = Branch::parts(single(&found.latches)?, found.head);
        parts.iter().flatten().find_map(|branch| Self::of_branch(function, found, branch, 64))
    }

    /// The same, for a loop that counts in 32 bits.
    pub(super) fn of_narrow(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let branch = Branch::of(single(&found.latches)?)?;
        Self::of_branch(function, found, &branch, 32)
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
        let mut shape = Self { found, before, counter: branch.left, bound: branch.right, until_equal: true, goes_on };
        match (branch.predicate, goes_on) {
            (IntPredicate::EQ, false) | (IntPredicate::NE, true) => {
                if shape.is_invariant(shape.counter) {
                    std::mem::swap(&mut shape.counter, &mut shape.bound);
                }
            }
            (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => shape.until_equal = false,
            (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => {
                shape.until_equal = false;
                std::mem::swap(&mut shape.counter, &mut shape.bound);
            }
            _ => return None,
        }
        let step = shape.constant_step(shape.counter, MOST_STEPS)?;
        let counts = if shape.until_equal { step == 1 || step == -1 } else { step == 1 };
        (counts && shape.is_invariant(shape.bound)).then_some(shape)
    }

    /// What is compared, in the first round: a value and a constant more; and its constant growth.
    pub(super) fn counter_at_first(&self) -> Option<(IntValue<'ctx>, i64, i64)> {
        if let Some((first, step)) = self.counted(self.counter) {
            return Some((first, 0, step.get_sign_extended_constant()?));
        }
        let sum = self.counter.as_instruction_value().filter(|sum| sum.get_opcode() == InstructionOpcode::Add)?;
        let more = integer(sum, 1)?.get_sign_extended_constant()?;
        let (first, step) = self.counted(integer(sum, 0)?)?;
        Some((first, more, step.get_sign_extended_constant()?))
    }

    fn is_invariant(&self, value: IntValue<'ctx>) -> bool {
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
        if !stays(inside) || self.found.contains(outside) || !panics(outside) {
            return None;
        }
        Branch::parts(block, inside).into_iter().map(|part| self.part(block, &part?, inside == then)).collect()
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
        if let Some((index, len)) = self.unequal(branch, inside_first) {
            return made(index, len, Limit::Not);
        }
        let (low, high, strict) = order(branch, inside_first)?;
        let is_index = |value| !self.is_invariant(value) && self.is_affine(value, MOST_STEPS);
        if self.is_invariant(high) {
            return is_index(low).then(|| made(low, high, if strict { Limit::Below } else { Limit::UpTo }))?;
        }
        if is_index(low) && is_index(high) {
            return made(low, high, Limit::Beside { strict });
        }
        let rest = high.as_instruction_value().filter(|rest| rest.get_opcode() == InstructionOpcode::Sub)?;
        let (len, index) = (integer(rest, 0)?, integer(rest, 1)?);
        let is_known = self.is_invariant(low) && self.is_invariant(len) && is_index(index);
        is_known.then(|| made(index, len, Limit::Leaves { count: low, more: strict }))?
    }

    /// What grows by 1 and is another number than one that does not change, where a comparison holds, or where it does not.
    fn unequal(&self, branch: &Branch<'ctx>, holds: bool) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        if branch.predicate != if holds { IntPredicate::NE } else { IntPredicate::EQ } {
            return None;
        }
        [(branch.left, branch.right), (branch.right, branch.left)].into_iter().find(|(index, other)| {
            self.is_invariant(*other)
                && self.constant_step(*index, MOST_STEPS) == Some(1)
                && self.is_affine(*index, MOST_STEPS)
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
                    let parts = (integer(sum, 0), integer(sum, 1));
                    let both = [(Some(first), Some(step)), (Some(step), Some(first))];
                    sum.get_opcode() == InstructionOpcode::Add && both.contains(&parts)
                }),
            };
            return is_sum.then_some((first, step));
        }
        self.sum(value, first, next)
    }

    /// What a phi of the head is at first, and in the next round.
    fn of_head(&self, value: IntValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
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
        let (left, right) = (integer(sum, 0)?, integer(sum, 1)?);
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
        if value.get_type() != self.counter.get_type() || steps == 0 {
            return false;
        }
        if self.is_invariant(value) || self.counted(value).is_some() {
            return true;
        }
        let Some(from) = value.as_instruction_value() else { return false };
        let parts = || Some((integer(from, 0)?, integer(from, 1)?));
        match (opcode(from), parts()) {
            (InstructionOpcode::Add | InstructionOpcode::Sub, Some((left, right))) => {
                self.is_affine(left, steps - 1) && self.is_affine(right, steps - 1)
            }
            (InstructionOpcode::Mul, Some((left, right))) => {
                self.is_affine(left, steps - 1) && self.is_invariant(right)
                    || self.is_invariant(left) && self.is_affine(right, steps - 1)
            }
            (InstructionOpcode::Shl, Some((left, right))) => right.is_const() && self.is_affine(left, steps - 1),
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
        let (left, right) = (integer(from, 0)?, integer(from, 1)?);
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
        let from = value.as_instruction_value().expect("what is not invariant is computed in the loop");
        let part = |index| integer(from, index).expect("`is_affine` saw two integers");
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

    /// How often the loop jumps back at most.
    pub(super) fn jumps_back(&self) -> Result<IntValue<'ctx>, BuilderError> {
        let (first, step) = self.affine(self.shape.counter)?;
        let bound = self.shape.bound;
        if !self.shape.until_equal {
            return self.call("llvm.usub.sat", bound, first);
        }
        match step.get_sign_extended_constant() {
            Some(1) => self.builder.build_int_sub(bound, first, ""),
            _ => self.builder.build_int_sub(first, bound, ""),
        }
    }

    /// Whether a check's index is within its length in every round.
    fn stays_below(&self, check: &Check<'ctx>, rounds: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        if let Limit::Always { predicate } = check.limit {
            let [left, right] = [check.index, check.len].map(|value| llvm::build_freeze(&self.builder, value));
            return self.builder.build_int_compare(predicate, left, right, "");
        }
        if let Limit::Beside { strict } = check.limit {
            return self.stays_beside(check, rounds, strict);
        }
        let (first, step) = self.affine(check.index)?;
        let [first, step, len] = [first, step, check.len].map(|value| llvm::build_freeze(&self.builder, value));
        if let Limit::Not = check.limit {
            // So many rounds later it would be that number, also where it wraps around before.
            let way = self.builder.build_int_sub(len, first, "")?;
            return self.builder.build_int_compare(IntPredicate::UGT, way, rounds, "");
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
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::request::OptLevel;

    /// A loop over `%k` from 0 by 1 whose body computes `%index` and loads the element, after [`split`] and the passes behind
    /// it; `condition` is what its last block ends in.
    fn split_loop(index: &str, condition: &str, more: &str) -> String {
        split_text(&text_of_loop(index, condition, more))
    }

    fn text_of_loop(index: &str, condition: &str, more: &str) -> String {
        format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare void @__rust_ptx_panic_with_2(ptr, ptr, i64, i64) noreturn
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define i32 @f(ptr %data, i64 %len, i64 %n, i64 %stride) {{
            entry: br label %loop
            loop:
              %k = phi i64 [ 0, %entry ], [ %next, %inside ]
              %sum = phi i32 [ 0, %entry ], [ %more, %inside ]
              {index}
              %below = icmp ult i64 %index, %len
              br i1 %below, label %inside, label %panic
            inside:
              %at = getelementptr inbounds i32, ptr %data, i64 %index
              %value = load i32, ptr %at
              %more = add i32 %sum, %value
              {more}
              %next = add nuw i64 %k, 1
              {condition}
            end: ret i32 %more
            panic:
              call void @__rust_ptx_panic_with_2(ptr null, ptr null, i64 %len, i64 %index)
              unreachable
            }}"
        )
    }

    fn split_text(text: &str) -> String {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        split(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        llvm::run_passes(&module, &machine, "function(simplifycfg)").unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const UNTIL: &str = "%go = icmp eq i64 %next, %n
              br i1 %go, label %end, label %loop";
    const WHILE: &str = "%go = icmp ult i64 %next, %n
              br i1 %go, label %loop, label %end";

    /// How many loops have a check, and how many loads there are.
    fn checks_and_loads(ir: &str) -> (usize, usize) {
        (ir.matches("icmp ult i64 %index").count(), ir.matches("load i32").count())
    }

    #[test]
    fn a_loop_whose_index_grows_has_a_twin_without_checks() {
        for index in [
            "%index = add i64 %k, %stride",
            "%index = mul i64 %k, %stride",
            "%row = mul i64 %stride, %k
              %shifted = shl i64 %k, 3
              %index = add i64 %row, %shifted",
            "%even = shl i64 %k, 1
              %index = or disjoint i64 %even, 1",
        ] {
            for condition in [UNTIL, WHILE] {
                let ir = split_loop(index, condition, "");
                assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
                assert!(ir.contains("llvm.umul.with.overflow.i64"), "{ir}");
                assert!(ir.contains("llvm.uadd.with.overflow.i64"), "{ir}");
                assert_eq!(ir.contains("llvm.usub.sat"), condition == WHILE, "{ir}");
            }
        }
    }

    #[test]
    fn a_panic_that_several_loops_lead_to_is_one() {
        // Each loop has a block of its own before the one that both leave to, once LLVM has simplified them.
        let text = text_of_loop("%index = add i64 %k, %stride", UNTIL, "").replace("label %panic", "label %way");
        let ir = split_text(&text.replace("panic:\n", "way: br label %panic\n panic:\n"));
        assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
        // What leaves the loop for something else is no check.
        let text = text.replace("panic:\n", "way: store i32 %sum, ptr %data\n br label %end\n panic:\n");
        let ir = split_text(
            &text.replace("ret i32 %more", "%all = phi i32 [ %more, %inside ], [ %sum, %way ]\n ret i32 %all"),
        );
        assert_eq!(checks_and_loads(&ir), (1, 1), "{ir}");
    }

    #[test]
    fn a_loop_over_parts_of_a_slice_has_a_twin_without_checks() {
        let part = "%index = mul i64 %k, %stride
              %starts = icmp ule i64 %index, %len
              br i1 %starts, label %started, label %panic
            started:
              %rest = sub nuw i64 %len, %index";
        for (check, inside) in [
            ("icmp ugt i64 %rest, 3", "label %inside, label %panic"),
            ("icmp ult i64 %rest, %stride", "label %panic, label %inside"),
            ("icmp uge i64 %rest, %stride", "label %inside, label %panic"),
            ("icmp ule i64 %rest, 3", "label %panic, label %inside"),
        ] {
            let text = text_of_loop(part, UNTIL, "").replace("icmp ult i64 %index, %len", check);
            let ir = split_text(
                &text.replace("label %inside, label %panic\n            inside:", &format!("{inside}\n inside:")),
            );
            // The loop as it was has both checks, or one that LLVM has made of them.
            assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
            assert!(ir.matches("label %panic").count() <= 2, "{ir}");
            assert!(ir.contains("sub i64") && ir.contains("llvm.uadd.with.overflow"), "{ir}");
        }
        // One of which nothing is known keeps its check in both.
        let text = text_of_loop(part, UNTIL, "").replace("icmp ult i64 %index, %len", "icmp ugt i64 %rest, %k");
        let ir = split_text(&text);
        assert_eq!((ir.matches("load i32").count(), ir.matches("icmp ugt i64").count()), (2, 2), "{ir}");
    }

    #[test]
    fn where_a_part_begins_and_ends_is_checked_at_once() {
        let part = "%index = mul i64 %k, %stride
              %after = add nuw i64 %k, 1
              %to = mul i64 %after, %stride
              %turned = icmp ult i64 %to, %index
              %past = icmp ugt i64 %to, %len
              %bad = or i1 %turned, %past
              br i1 %bad, label %which, label %part
            which: br i1 %past, label %panic, label %panic.2
            panic.2: unreachable
            part:
              %below = icmp ult i64 %n, %stride
              br i1 %below, label %inside, label %panic
            inside:";
        let text = text_of_loop("INDEX", UNTIL, "");
        let (first, rest) = text.split_once("INDEX").unwrap();
        let body = rest.split_once("inside:").unwrap().1;
        let text = format!("{first}{part}{body}").replace("%len, i64 %index)\n", "%len, i64 0)\n");
        let ir = split_text(&text);
        assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
        // Of where it ends nothing is known.
        let ir = split_text(&text.replace("%to = mul i64 %after, %stride", "%to = mul i64 %k, %k"));
        assert_eq!(ir.matches("load i32").count(), 1, "{ir}");
    }

    #[test]
    fn a_check_that_is_an_inequality_holds_for_so_many_rounds() {
        for (check, is_split) in [
            ("icmp ne i64 %k, %len", true),
            ("icmp ne i64 %len, %k", true),
            ("icmp ne i64 %index, %len", true),
            ("icmp eq i64 %k, %len", false),
            ("icmp ne i64 %double, %len", false),
        ] {
            let index = "%double = shl i64 %k, 1\n %index = add i64 %k, %stride";
            let ir = split_text(&text_of_loop(index, UNTIL, "").replace("icmp ult i64 %index, %len", check));
            assert_eq!(ir.matches("load i32").count(), if is_split { 2 } else { 1 }, "{ir}");
            assert_eq!(ir.contains("icmp ugt i64"), is_split, "{ir}");
        }
    }

    #[test]
    fn a_search_has_a_twin_without_checks() {
        for end in [
            "%below.n = icmp ult i64 %next, %n
             %other = icmp ne i32 %value, 7
             %go = select i1 %other, i1 %below.n, i1 false
             br i1 %go, label %loop, label %end",
            "%last = icmp eq i64 %next, %n
             %found = icmp eq i32 %value, 7
             %stop = or i1 %found, %last
             br i1 %stop, label %end, label %loop",
            "%last = icmp eq i64 %next, %n
             %found = icmp eq i32 %value, 7
             %stop = select i1 %last, i1 true, i1 %found
             br i1 %stop, label %end, label %loop",
        ] {
            let ir = split_loop("%index = add i64 %k, %stride", end, "");
            assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
        }
        // It goes on while either holds.
        let either = "%below.n = icmp ult i64 %next, %n
             %other = icmp ne i32 %value, 7
             %go = or i1 %other, %below.n
             br i1 %go, label %loop, label %end";
        assert_eq!(checks_and_loads(&split_loop("%index = add i64 %k, %stride", either, "")), (1, 1));
    }

    #[test]
    fn what_may_be_undefined_is_frozen() {
        // `%n` is looked at after the first check alone, `%stride` from the second round on.
        let ir = split_loop("%index = mul i64 %k, %stride", UNTIL, "");
        let frozen: Vec<&str> =
            ir.lines().filter_map(|line| Some(line.trim().split_once(" = freeze i64")?.0)).collect();
        let (_, product) = ir.split_once("@llvm.umul.with.overflow.i64(i64 ").expect("the growth is multiplied");
        let operands: Vec<&str> = product.split(')').next().unwrap_or_default().split(", i64 ").collect();
        assert!(
            operands.len() == 2 && operands.iter().all(|operand| frozen.contains(operand)),
            "{operands:?} in\n{ir}"
        );
        assert!(ir.contains("freeze i64 %len"), "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        let barrier = "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)";
        let signed = "%go = icmp slt i64 %next, %n
              br i1 %go, label %loop, label %end";
        for (index, condition, more) in [
            // A square grows by more each time; an index from memory by anything.
            ("%index = mul i64 %k, %k", UNTIL, ""),
            ("%index = load i64, ptr %data", UNTIL, ""),
            ("%index = udiv i64 %k, %stride", UNTIL, ""),
            ("%index = or i64 %k, 1", UNTIL, ""),
            ("%index = add i64 %k, 1", signed, ""),
            ("%index = add i64 %k, 1", UNTIL, barrier),
        ] {
            let ir = split_loop(index, condition, more);
            assert_eq!(checks_and_loads(&ir), (1, 1), "{ir}");
        }
    }

    #[test]
    fn a_split_loop_is_not_split_again() {
        let context = Context::create();
        let ir = split_loop("%index = add i64 %k, %stride", UNTIL, "");
        let text = format!(
            "declare void @__rust_ptx_panic_with_2(ptr, ptr, i64, i64)\n\
             declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)\n\
             declare {{ i64, i1 }} @llvm.uadd.with.overflow.i64(i64, i64)\n\
             {}\n!0 = distinct !{{!0, !1, !2}}\n!1 = !{{!\"llvm.loop.unroll.disable\"}}\n\
             !2 = !{{!\"rust-ptx.unroll.disable\"}}\n",
            ir.replace(" #0", "").replace(" #1", "")
        );
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        split(&context, &module, &machine).unwrap();
        let again = module.get_function("f").unwrap().print_to_string().to_string();
        assert_eq!(checks_and_loads(&again), (1, 2), "{again}");
    }
}

//! Counts the rounds of loops that go on by a step of which LLVM does not see how often it is taken.
//!
//! ```text
//! before: loop: %i = phi i64 [ %first, %before ], [ %next, %loop ]
//!               %next = add i64 %i, %step
//!               br i1 (icmp ult i64 %next, %n), label %loop, label %end
//! after:  loop: %round = phi i64 [ 0, %before ], [ (add i64 %round, 1), %loop ]
//!               br i1 (icmp ult i64 %round, %rounds), label %loop, label %end      ; a division before the loop
//! ```
//!
//! A grid-stride loop, `iter().skip(first).step_by(step)` and `chunks_exact(n)`: LLVM unrolls none of them, because it would
//! have to divide to know how often they go on, and may not see that they end. nvcc divides. Five forms are known:
//!
//! - The next index is compared with a bound. Where `%n + %step` would overflow, or the step is 0, the index may jump over
//!   the bound or never reach it. So there the loop stays as it was, and it has a twin that is counted. A constant step LLVM
//!   counts by itself, but not where the loop checks an index: then the twin is what [`super::checks`] and
//!   [`super::batches`] look for (`while j < end { …; j += 32 }`).
//! - The same, where the bound is the width of a plane, or another number below 2^32, and a branch
//!   has found the first index below it ([`super::below`]): `while i < width { …; i += 256 }` of the threads of a
//!   block. The step is a constant, or as small, as the block's size is. No index overflows, and the way from the first one to the
//!   last below the bound is divided in 32 bits, without the case that there is none; only a step of 0 needs the loop as it was.
//!   LLVM counted in 64 bits, and a layer norm of rows of 2,048 ran 457 instructions a warp, 390 with this, and 347 in CUDA C++.
//! - The same, and the loop ends where the sum overflows (`zip(…).skip(first).step_by(step)`, see [`super::idle`]). Then only a
//!   step of 0 has it stay as it was.
//! - What is left of a slice, in elements or in bytes, is compared with the step less one, or with the step itself. It shrinks
//!   by the step while it is not smaller, so it never wraps, and is divided by the step. Where it is compared with the step
//!   itself (`chunks_exact`), a step of 0 would never end it, and the loop as it was runs.
//!   In bytes LLVM may compare with the step less an element; then the difference must be one that does not wrap (`nuw`).
//! - The same, and a window has to be left behind the step ([`windows`]).

mod windows;
mod within;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntPredicate, IntValue, Intrinsic, Module, Unroll,
};
use crate::settled;

use super::addresses::moves;
use super::below::is_known_below;
use super::branches::{Branch, has_checks, is_convergent, is_one_less};
use super::counters::{ROUNDS, loads, most};
use super::limits::order;
use super::natural::{Graph, Loop, SimpleForm};
use windows::Windows;
use within::Within;

/// Instructions of a loop that is counted: a longer one gains little from being unrolled.
const MOST_INSTRUCTIONS: usize = 60;

/// Constant steps of loops with checks: a block's threads, a warp's lanes, elements of a vector.
const MOST_CONSTANT: u64 = 1 << 16;

/// Up to which constant bound a loop by an unknown step is left alone: it is that of a block's threads, which fill a tile in
/// shared memory in a round or two, and a division takes as long as a few of them.
const MOST_OF_BLOCK: u64 = 4096;

/// Bytes of the largest element of a slice by whose end a step is looked for.
const LARGEST_ELEMENT: u64 = 16;

/// How deep what is compared may be computed.
const MOST_STEPS: u32 = 8;

/// Counts every loop where it helps.
pub fn count<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
            let is_short = instructions().take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS;
            // Each division of floats is a branch for ptxas, so that the rounds of an unrolled loop would wait for each other.
            let divides = instructions().any(|instruction| instruction.get_opcode() == InstructionOpcode::FDiv);
            let is_fit = is_short && !divides && !instructions().any(is_convergent);
            if !is_fit || llvm::unroll_is_disabled(context, &found.jumps_back()) {
                continue;
            }
            let Some(stride) = Stride::of(function, &found) else { continue };
            form.lose();
            let builder = context.create_builder();
            Stage { context, module, builder, function, stride: &stride }.count().map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot count the rounds of a loop: {error}"))
            })?;
        }
    }
    Ok(())
}

/// What decides whether a loop goes on.
struct Stride<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    /// Whether it goes on where the condition holds.
    goes_on: bool,
    step: IntValue<'ctx>,
    form: Form<'ctx>,
}

enum Form<'ctx> {
    /// It goes on while this, which grows by the step, is below the bound.
    Below { next: IntValue<'ctx>, bound: IntValue<'ctx> },
    /// The same, by a step of 32 bits below a bound of 32 bits that is above the first number.
    Short { first: IntValue<'ctx>, next: IntValue<'ctx>, bound: IntValue<'ctx> },
    /// The same, and while the sum does not overflow.
    Within(Within<'ctx>),
    /// It goes on while this, which shrinks by the step, is not below the step; not at all where the step is 0.
    Left(IntValue<'ctx>),
    /// The same, but it never ends where the step is 0.
    Rest(IntValue<'ctx>),
    /// It goes on while a step and a window are left.
    Windows(Windows<'ctx>),
}

impl<'a, 'ctx> Stride<'a, 'ctx> {
    fn of(function: FunctionValue<'ctx>, found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let before = Graph::of(function).block_before(found)?;
        if let Some(within) = Within::of(found, latch) {
            return Some(Self { found, before, latch, goes_on: false, step: within.step, form: Form::Within(within) });
        }
        if let Some(windows) = Windows::of(found, before, latch) {
            let goes_on = llvm::branch_targets(latch.get_terminator()?)?.0 == found.head;
            return Some(Self { found, before, latch, goes_on, step: windows.step, form: Form::Windows(windows) });
        }
        let branch = Branch::of(latch)?;
        let goes_on = branch.then == found.head;
        if goes_on == (branch.other == found.head) {
            return None;
        }
        if let Some((step, left, false)) = order(&branch, goes_on)
            && !step.is_const()
            && is_step_of_difference(found, left, step)
        {
            return Some(Self { found, before, latch, goes_on, step, form: Form::Rest(left) });
        }
        let (small, large) = match (branch.predicate, goes_on) {
            (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => (branch.left, branch.right),
            (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => (branch.right, branch.left),
            // Not less than a constant is more than what comes before it.
            (IntPredicate::UGE, true) | (IntPredicate::ULT, false) => (before_constant(branch.right)?, branch.left),
            _ => return None,
        };
        let (step, form) = if found.is_invariant(large.into()) {
            let step = step_of_sum(found, small)?;
            let fills_tile = step.get_zero_extended_constant().is_none()
                && large.get_zero_extended_constant().is_some_and(|bound| bound <= MOST_OF_BLOCK);
            if fills_tile {
                return None;
            }
            if let Some(first) = first_of_short(found, before, small, large, step) {
                let form = Form::Short { first, next: small, bound: large };
                return Some(Self { found, before, latch, goes_on, step, form });
            }
            let is_counted = step.get_zero_extended_constant().is_some_and(|step| {
                let is_small = (2..=MOST_CONSTANT).contains(&step);
                !is_small || !has_checks(found)
            });
            if is_counted {
                return None;
            }
            (step, Form::Below { next: small, bound: large })
        } else {
            (step_of_rest(found, small, large)?, Form::Left(large))
        };
        Some(Self { found, before, latch, goes_on, step, form })
    }
}

/// With what a loop begins that goes on by a step of 32 bits below such a bound, if that is seen to be below the bound.
fn first_of_short<'ctx>(
    found: &Loop<'ctx>,
    before: BasicBlock<'ctx>,
    next: IntValue<'ctx>,
    bound: IntValue<'ctx>,
    step: IntValue<'ctx>,
) -> Option<IntValue<'ctx>> {
    let sum = next.as_instruction_value()?;
    let of = |at| Some(found.incoming(llvm::int_operand(sum, at)?)?.0.into_int_value());
    let first: IntValue<'ctx> = of(0).or_else(|| of(1))?;
    let is_step = step.get_zero_extended_constant().is_none_or(|step| (2..=MOST_CONSTANT).contains(&step));
    let is_word = |number| most(number, MOST_STEPS).is_some_and(|most| most <= u64::from(u32::MAX));
    let is_short = next.get_type().get_bit_width() == 64 && is_word(bound) && is_word(step);
    (is_step && is_short && is_known_below(before, first, bound)).then_some(first)
}

/// The constant before a constant.
fn before_constant(value: IntValue<'_>) -> Option<IntValue<'_>> {
    let number = value.get_zero_extended_constant().filter(|number| *number > 0)?;
    Some(value.get_type().const_int(number - 1, false))
}

/// What is added to a phi of the head to make its next value, if that does not change.
fn step_of_sum<'ctx>(found: &Loop<'ctx>, next: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
    let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == InstructionOpcode::Add)?;
    let parts = [llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?];
    let phi = parts
        .iter()
        .position(|part| found.incoming(*part).is_some_and(|(_, value)| value == BasicValueEnum::from(next)))?;
    let step = parts[1 - phi];
    found.is_invariant(step.into()).then_some(step)
}

/// Whether a number is a phi of the head less a step, and the phi's next value.
fn is_step_of_difference<'ctx>(found: &Loop<'ctx>, left: IntValue<'ctx>, step: IntValue<'ctx>) -> bool {
    let is_difference = |from: &InstructionValue<'ctx>| from.get_opcode() == InstructionOpcode::Sub;
    left.as_instruction_value().filter(is_difference).is_some_and(|from| {
        let next = llvm::int_operand(from, 0).and_then(|phi| Some(found.incoming(phi)?.1));
        next == Some(left.into()) && llvm::int_operand(from, 1) == Some(step) && found.is_invariant(step.into())
    })
}

/// By how much what is left of a slice shrinks, if that is one more than `less`, with which it is compared.
fn step_of_rest<'ctx>(found: &Loop<'ctx>, less: IntValue<'ctx>, left: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
    let mut value = left.as_instruction_value()?;
    let mut size = 1;
    if value.get_opcode() == InstructionOpcode::LShr {
        size = 1_u64.checked_shl(llvm::int_operand(value, 1)?.get_zero_extended_constant()?.try_into().ok()?)?;
        value = llvm::int_operand(value, 0)?.as_instruction_value()?;
    }
    let (end, at) = (llvm::int_operand(value, 0)?, llvm::int_operand(value, 1)?);
    if value.get_opcode() != InstructionOpcode::Sub || !found.is_invariant(end.into()) {
        return None;
    }
    // The place moves as the phi that it is computed from does.
    let (phi, _) = moves(found, llvm::pointer_of_integer(at)?)?;
    let (_, next) = found.incoming(phi)?;
    let BasicValueEnum::PointerValue(next) = next else { return None };
    let (from, moved) = moves(found, next)?;
    let step = match moved[..] {
        [(by, step)] if by == size => step,
        // By one less, and one.
        [(1, more), (by, step)] | [(by, step), (1, more)] if by == size && step == less => {
            more.get_zero_extended_constant().filter(|more| *more == size)?;
            one_more(less)?
        }
        _ => return None,
    };
    let is_left = is_one_less(less, step) || size == 1 && is_little_less(found, value, less, step);
    (from == phi && is_left).then_some(step)
}

/// The number of which a value is one less.
fn one_more<'ctx>(less: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
    let value = llvm::int_operand(less.as_instruction_value()?, 0)?;
    is_one_less(less, value).then_some(value)
}

/// Whether what is left, in bytes, is compared with one element less than the step: LLVM writes `left > 124` where 32
/// elements of four bytes are a step. As the difference does not wrap, in the next round neither, and each round asks for it,
/// the loop goes on only where a whole step is left.
fn is_little_less<'ctx>(
    found: &Loop<'ctx>,
    left: InstructionValue<'ctx>,
    less: IntValue<'ctx>,
    step: IntValue<'ctx>,
) -> bool {
    let (Some(less), Some(step)) = (less.get_zero_extended_constant(), step.get_zero_extended_constant()) else {
        return false;
    };
    let by_element = less < step && step - less <= LARGEST_ELEMENT;
    let [latch] = found.latches[..] else { return false };
    by_element && left.get_parent() == Some(latch) && llvm::has_no_unsigned_wrap(left)
}

struct Stage<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    stride: &'a Stride<'a, 'ctx>,
}

impl<'ctx> Stage<'_, 'ctx> {
    fn count(&self) -> Result<(), BuilderError> {
        let Stride { found, before, latch, .. } = self.stride;
        let Some(end) = before.get_terminator() else { return Ok(()) };
        self.builder.position_before(&end);
        let step = llvm::build_freeze(&self.builder, self.stride.step);
        match &self.stride.form {
            Form::Within(within) => self.count_within(within, step),
            &Form::Left(left) => {
                let Some(left) = self.at_first(left.into(), MOST_STEPS) else { return Ok(()) };
                let left = llvm::build_freeze(&self.builder, left.into_int_value());
                let rounds = self.divided(left, step)?;
                self.until(found.head, *latch, rounds)
            }
            Form::Windows(windows) => {
                let first = llvm::build_freeze(&self.builder, windows.first);
                let width = first.get_type().const_int(windows.width, false);
                let rounds = self.divided(self.builder.build_int_sub(first, width, "")?, step)?;
                self.until(found.head, *latch, rounds)
            }
            &Form::Rest(left) => {
                let Some(left) = self.at_first(left.into(), MOST_STEPS) else { return Ok(()) };
                let left = llvm::build_freeze(&self.builder, left.into_int_value());
                let fits = self.builder.build_int_compare(IntPredicate::NE, step, step.get_type().const_zero(), "")?;
                let rounds = self.divided(left, step)?;
                self.twin(fits, rounds, |_| Ok(()))
            }
            &Form::Short { first, next, bound } => {
                let rounds = self.short_rounds(first, bound, step)?;
                next.as_instruction_value().into_iter().for_each(llvm::set_no_unsigned_wrap);
                if step.is_const() {
                    if found.blocks.len() == 1 && loads(found) == 1 {
                        llvm::set_unroll(self.context, &found.jumps_back(), Unroll::AtLeast(ROUNDS));
                    }
                    return self.until(found.head, *latch, rounds);
                }
                let moves = self.builder.build_int_compare(IntPredicate::NE, step, step.get_type().const_zero(), "")?;
                self.twin(moves, rounds, |_| Ok(()))
            }
            &Form::Below { next, bound } => {
                let next_sum = next.as_instruction_value();
                let first = next_sum.and_then(|sum| {
                    let of_head =
                        |at| found.incoming(llvm::int_operand(sum, at)?).map(|(first, _)| first.into_int_value());
                    of_head(0).or_else(|| of_head(1))
                });
                let is_below = first.is_some_and(|first| is_known_below(*before, first, bound));
                let Some(next) = self.at_first(next.into(), MOST_STEPS) else { return Ok(()) };
                let next = llvm::build_freeze(&self.builder, next.into_int_value());
                let bound = llvm::build_freeze(&self.builder, bound);
                let (mut fits, rounds) = self.rounds(next, bound, step)?;
                if !is_below {
                    // The first sum may overflow, if nobody has asked whether that number is below the bound.
                    let is_more = self.builder.build_int_compare(IntPredicate::UGE, next, step, "")?;
                    fits = self.builder.build_and(fits, is_more, "")?;
                }
                self.twin(fits, rounds, |copies| {
                    // The last index is less than a step above the bound.
                    let sum = next_sum.and_then(|sum| self.stride.found.copy_of(copies, sum));
                    sum.into_iter().for_each(llvm::set_no_unsigned_wrap);
                    Ok(())
                })
            }
        }
    }

    /// Where a sum overflows the loop ends, so that it may be counted for every step but 0.
    fn count_within(&self, within: &Within<'ctx>, less: IntValue<'ctx>) -> Result<(), BuilderError> {
        let builder = &self.builder;
        let Some(at) = self.at_first(within.at.into(), MOST_STEPS) else { return Ok(()) };
        let [at, bound] = [at.into_int_value(), within.bound].map(|value| llvm::build_freeze(builder, value));
        let (zero, one) = (less.get_type().const_zero(), less.get_type().const_int(1, false));
        let next = builder.build_int_add(at, less, "")?;
        let step = builder.build_int_add(less, less.get_type().const_int(within.more, false), "")?;
        let moves = builder.build_int_compare(IntPredicate::NE, step, zero, "")?;
        // An index below the bound, and what is added beside the step, do not overflow.
        let most = less.get_type().const_int(within.more.wrapping_neg().wrapping_sub(1), false);
        let has_room = builder.build_int_compare(IntPredicate::ULE, bound, most, "")?;
        let fits = builder.build_and(moves, has_room, "")?;
        let overflows = builder.build_int_compare(IntPredicate::ULT, next, at, "")?;
        let is_below = builder.build_int_compare(IntPredicate::ULT, next, bound, "")?;
        let goes_on = builder.build_and(is_below, builder.build_not(overflows, "")?, "")?;
        let way = builder.build_int_sub(builder.build_int_sub(bound, one, "")?, next, "")?;
        let more = builder.build_int_add(self.divided(way, step)?, one, "")?;
        let rounds = builder.build_select(goes_on, more, zero, "")?.into_int_value();
        self.twin(fits, rounds, |copies| {
            let copy = |of: InstructionValue<'ctx>| self.stride.found.copy_of(copies, of);
            let sum = within.next.as_instruction_value().and_then(copy).zip(copy(within.call));
            let Some((next, call)) = sum else { return Ok(()) };
            let Some((at, less)) = llvm::int_operand(call, 0).zip(llvm::int_operand(call, 1)) else { return Ok(()) };
            self.builder.position_before(&call);
            // The last one may overflow: after it the loop ends.
            llvm::replace_uses(next, self.builder.build_int_add(at, less, "")?.into());
            Ok(())
        })
    }

    /// Writes the loop that is counted, for where that is known to be the same, after a change to its blocks.
    fn twin(
        &self,
        fits: IntValue<'ctx>,
        rounds: IntValue<'ctx>,
        change: impl FnOnce(&[BasicBlock<'ctx>]) -> Result<(), BuilderError>,
    ) -> Result<(), BuilderError> {
        let Stride { found, before, latch, .. } = self.stride;
        let at = found.blocks.iter().position(|block| block == latch);
        let (Some(end), Some(at)) = (before.get_terminator(), at) else { return Ok(()) };
        let copies = llvm::copy_blocks(self.context, self.function, &found.blocks);
        self.builder.position_before(&end);
        self.builder.build_conditional_branch(fits, copies[0], found.head)?;
        end.erase_from_basic_block();
        llvm::set_unroll(self.context, &found.jumps_back(), Unroll::None);
        change(&copies)?;
        llvm::forget_loop(self.context, &copies[at].get_terminator().into_iter().collect::<Vec<_>>());
        self.until(copies[0], copies[at], rounds)
    }

    /// How often a loop goes on whose next index is below a bound, and whether that is so: no index overflows.
    fn rounds(
        &self,
        next: IntValue<'ctx>,
        bound: IntValue<'ctx>,
        step: IntValue<'ctx>,
    ) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
        let builder = &self.builder;
        let (zero, one) = (step.get_type().const_zero(), step.get_type().const_int(1, false));
        let moves = builder.build_int_compare(IntPredicate::NE, step, zero, "")?;
        let room = builder.build_int_neg(bound, "")?;
        let has_room = builder.build_int_compare(IntPredicate::ULE, step, room, "")?;
        let fits = builder.build_and(moves, has_room, "")?;
        let last = builder.build_int_sub(bound, one, "")?;
        let way = builder.build_int_sub(last, next, "")?;
        let more = builder.build_int_add(self.divided(way, step)?, one, "")?;
        let goes_on = builder.build_int_compare(IntPredicate::ULT, next, bound, "")?;
        Ok((fits, builder.build_select(goes_on, more, zero, "")?.into_int_value()))
    }

    /// How often a loop goes on by a step of 32 bits below a bound of 32 bits that is above the first number.
    fn short_rounds(
        &self,
        first: IntValue<'ctx>,
        bound: IntValue<'ctx>,
        step: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let (builder, word) = (&self.builder, self.context.i32_type());
        let [first, bound, step] = [first, bound, step].map(|number| builder.build_int_truncate(number, word, ""));
        let last = builder.build_int_nuw_sub(bound?, word.const_int(1, false), "")?;
        let way = builder.build_int_nuw_sub(last, first?, "")?;
        builder.build_int_z_extend(self.divided(way, step?)?, self.context.i64_type(), "")
    }

    /// A quotient; 0 where the divisor is.
    fn divided(&self, value: IntValue<'ctx>, by: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let word = by.get_type();
        let (zero, one) = (word.const_zero(), word.const_int(1, false));
        let largest = Intrinsic::find("llvm.umax").and_then(|found| found.get_declaration(self.module, &[word.into()]));
        let largest = largest.expect("LLVM has the larger of two for every integer");
        let divisor = self.builder.build_call(largest, &[by.into(), one.into()], "")?;
        let divisor = divisor.try_as_basic_value().unwrap_basic().into_int_value();
        let quotient = self.builder.build_int_unsigned_div(value, divisor, "")?;
        let is_zero = self.builder.build_int_compare(IntPredicate::EQ, by, zero, "")?;
        Ok(self.builder.build_select(is_zero, zero, quotient, "")?.into_int_value())
    }

    /// What a value is in the first round, written before the loop.
    fn at_first(&self, value: BasicValueEnum<'ctx>, steps: u32) -> Option<BasicValueEnum<'ctx>> {
        let found = self.stride.found;
        if found.is_invariant(value) {
            return Some(value);
        }
        if let Some((first, _)) = found.incoming(value) {
            return Some(first);
        }
        let from = value.as_instruction_value().filter(|from| steps > 0 && llvm::is_pure(*from))?;
        let operands = llvm::value_operands(from)
            .map(|(index, operand)| Some((index, self.at_first(operand, steps - 1)?)))
            .collect::<Option<Vec<_>>>()?;
        Some(llvm::result(llvm::build_copy(&self.builder, from, &operands)))
    }

    /// Has a loop go on so often, and no longer ask what it asked.
    fn until(
        &self,
        head: BasicBlock<'ctx>,
        latch: BasicBlock<'ctx>,
        rounds: IntValue<'ctx>,
    ) -> Result<(), BuilderError> {
        let word = rounds.get_type();
        let (Some(first), Some(end)) = (head.get_first_instruction(), latch.get_terminator()) else { return Ok(()) };
        self.builder.position_before(&first);
        let round = self.builder.build_phi(word, "")?;
        self.builder.position_before(&end);
        let number = round.as_basic_value().into_int_value();
        let next = self.builder.build_int_nuw_add(number, word.const_int(1, false), "")?;
        round.add_incoming(&[(&word.const_zero(), self.stride.before), (&next, latch)]);
        let relation = if self.stride.goes_on { IntPredicate::NE } else { IntPredicate::EQ };
        let condition = self.builder.build_int_compare(relation, number, rounds, "")?;
        llvm::set_condition(end, condition);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::request::OptLevel;

    /// A function with a loop, after [`count`] and the passes behind it.
    pub(super) fn counted(body: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            define i32 @f(ptr %data, ptr %behind, i64 %first, i64 %n, i64 %step) {{ {body} }}"
        );
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        count(&context, &module, &SimpleForm::of(&machine)).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    fn below(condition: &str, step: &str) -> String {
        format!(
            "entry: br label %loop
            loop: %i = phi i64 [ %first, %entry ], [ %next, %loop ]
              %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
              %at = getelementptr i32, ptr %data, i64 %i
              %x = load i32, ptr %at
              %more = add i32 %sum, %x
              %next = add i64 %i, {step}
              {condition}
            end: ret i32 %more"
        )
    }

    #[test]
    fn a_grid_stride_loop_gets_a_twin_that_is_counted() {
        for condition in [
            "%go = icmp ult i64 %next, %n\n br i1 %go, label %loop, label %end",
            "%go = icmp ugt i64 %n, %next\n br i1 %go, label %loop, label %end",
            "%go = icmp uge i64 %next, %n\n br i1 %go, label %end, label %loop",
        ] {
            let ir = counted(&below(condition, "%step"));
            assert_eq!((ir.matches("udiv i64").count(), ir.matches("load i32").count()), (1, 2), "{ir}");
            // Not where the next index could pass the largest number.
            assert!(ir.contains("sub i64 0, ") && ir.contains("icmp ule i64") && ir.contains("add nuw i64"), "{ir}");
        }
    }

    #[test]
    fn the_first_sum_is_known_not_to_overflow() {
        let condition = "%go = icmp ult i64 %next, %n\n br i1 %go, label %loop, label %end";
        let ir = counted(&below(condition, "%step"));
        assert!(ir.contains("icmp uge i64"), "{ir}");
        // It is below the bound, which no sum of it passes by more than there is room for.
        let text = below(condition, "%step").replacen(
            "entry:",
            "begin: %is = icmp ult i64 %first, %n\n br i1 %is, label %entry, label %none\n none: ret i32 0\n entry:",
            1,
        );
        let ir = counted(&text);
        assert!(ir.contains("add nuw i64") && !ir.contains("icmp uge i64"), "{ir}");
    }

    #[test]
    fn what_is_left_of_a_slice_is_divided() {
        let ir = counted(
            "entry: %less = add i64 %step, -1
              %e = ptrtoint ptr %behind to i64
              br label %loop
            loop: %p = phi ptr [ %data, %entry ], [ %next, %loop ]
              %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
              %next = getelementptr i32, ptr %p, i64 %step
              %x = load i32, ptr %next
              %more = add i32 %sum, %x
              %after = getelementptr i8, ptr %next, i64 4
              %a = ptrtoint ptr %after to i64
              %bytes = sub nuw i64 %e, %a
              %left = lshr exact i64 %bytes, 2
              %go = icmp ult i64 %less, %left
              br i1 %go, label %loop, label %end
            end: ret i32 %more",
        );
        assert_eq!((ir.matches("udiv i64").count(), ir.matches("load i32").count()), (1, 1), "{ir}");
        assert!(ir.contains("icmp ne i64") && ir.contains("llvm.umax.i64"), "{ir}");
    }

    #[test]
    fn a_step_may_be_one_less_and_one() {
        let by = |less: &str, more: u32| {
            counted(&format!(
                "entry: %less = add i64 %step, -1
                  %e = ptrtoint ptr %behind to i64
                  br label %loop
                loop: %p = phi ptr [ %data, %entry ], [ %next, %loop ]
                  %sum = phi i32 [ 0, %entry ], [ %much, %loop ]
                  %x = load i32, ptr %p
                  %much = add i32 %sum, %x
                  %then = getelementptr i32, ptr %p, i64 {less}
                  %next = getelementptr i8, ptr %then, i64 {more}
                  %a = ptrtoint ptr %next to i64
                  %bytes = sub nuw i64 %e, %a
                  %left = lshr exact i64 %bytes, 2
                  %go = icmp ult i64 %less, %left
                  br i1 %go, label %loop, label %end
                end: ret i32 %much"
            ))
        };
        let ir = by("%less", 4);
        assert!(ir.contains("udiv i64") && ir.contains("icmp ne i64"), "{ir}");
        for (less, more) in [("%less", 8), ("%less", 3), ("%step", 4), ("%n", 4)] {
            assert!(!by(less, more).contains("udiv"), "{less} and {more} bytes");
        }
    }

    #[test]
    fn whole_parts_of_a_slice_are_counted() {
        let body = |predicate: &str, left: &str| {
            format!(
                "entry: br label %loop
                loop: %p = phi ptr [ %data, %entry ], [ %next, %loop ]
                  %rest = phi i64 [ %n, %entry ], [ {left}, %loop ]
                  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
                  %x = load i32, ptr %p
                  %more = add i32 %sum, %x
                  %next = getelementptr i32, ptr %p, i64 %step
                  %less = sub i64 %rest, %step
                  %go = icmp {predicate} i64 %step, {left}
                  br i1 %go, label %loop, label %end
                end: ret i32 %more"
            )
        };
        let ir = counted(&body("ule", "%less"));
        // A step of 0 would never end it.
        assert_eq!((ir.matches("udiv i64").count(), ir.matches("load i32").count()), (1, 2), "{ir}");
        assert!(ir.contains("icmp ne i64 %"), "{ir}");
        for (predicate, left) in [("ult", "%less"), ("uge", "%less"), ("ule", "%rest"), ("sle", "%less")] {
            assert!(!counted(&body(predicate, left)).contains("udiv"), "{predicate} {left}");
        }
    }

    #[test]
    fn a_constant_step_is_counted_where_an_index_is_checked() {
        let body = |step| {
            format!(
                "entry: br label %loop
                loop: %i = phi i64 [ %first, %entry ], [ %next, %inside ]
                  %sum = phi i32 [ 0, %entry ], [ %more, %inside ]
                  %below = icmp ult i64 %i, 1000
                  br i1 %below, label %inside, label %panic
                inside: %at = getelementptr i32, ptr %data, i64 %i
                  %x = load i32, ptr %at
                  %more = add i32 %sum, %x
                  %next = add i64 %i, {step}
                  %go = icmp ult i64 %next, %n
                  br i1 %go, label %loop, label %end
                end: ret i32 %more
                panic: unreachable"
            )
        };
        let ir = counted(&body(32));
        assert_eq!((ir.matches("load i32").count(), ir.matches("add nuw i64").count()), (2, 2), "{ir}");
        assert!(ir.contains("sub i64 0, ") && ir.contains("icmp ule i64 32, "), "{ir}");
        for step in [1, -8] {
            assert_eq!(counted(&body(step)).matches("load i32").count(), 1, "{step}");
        }
    }

    /// A loop by a constant step below a width, behind a branch.
    fn below_width(width: &str, asks: &str, step: &str) -> String {
        let condition = "%go = icmp ult i64 %next, %width\n br i1 %go, label %loop, label %end";
        let first = format!(
            "begin: %width = {width}
              %cut = trunc i64 %n to i32
              %short = trunc i64 %step to i32
              %first.of = zext i32 %short to i64
              %is = {asks}
              br i1 %is, label %entry, label %none
            none: ret i32 0
            entry:"
        );
        counted(&below(condition, step).replacen("entry:", &first, 1).replace("[ %first,", "[ %first.of,"))
    }

    #[test]
    fn a_constant_step_below_a_width_is_counted_in_32_bits() {
        let width = "and i64 %n, 4294967295";
        for asks in ["icmp ult i64 %first.of, %width", "icmp ult i32 %short, %cut"] {
            let ir = below_width(width, asks, "256");
            assert!(
                ir.contains("udiv i32 %") && ir.contains("sub nuw i32") && ir.contains("add nuw i64 %i, 256"),
                "{ir}"
            );
            // There is no other loop, and ptxas may unroll it.
            assert!(ir.matches("load i32").count() == 1 && ir.contains("!llvm.loop"), "{ir}");
        }
        // It may have more bits, be no more than the first number, or be met by each round.
        for (width, asks, step) in [
            ("add i64 %n, 0", "icmp ult i64 %first.of, %width", "256"),
            (width, "icmp ule i64 %first.of, %width", "256"),
            (width, "icmp ult i64 %first.of, %n", "256"),
            (width, "icmp ult i64 %first.of, %width", "1"),
        ] {
            assert!(!below_width(width, asks, step).contains("udiv"), "{width}, {asks}, {step}");
        }
    }

    #[test]
    fn a_step_of_32_bits_below_a_width_is_counted_in_32_bits() {
        let (width, asks) = ("and i64 %n, 4294967295", "icmp ult i64 %first.of, %width");
        assert!(!below_width(width, asks, "%step").contains("udiv i32"), "it may have more bits");
        for by in ["and i64 %step, 4294967295", "lshr i64 %step, 40"] {
            let ir = below_width(&format!("{width}\n %by = {by}"), asks, "%by");
            assert!(ir.contains("udiv i32 %") && ir.contains("umax.i32") && !ir.contains("udiv i64"), "{ir}");
            // By a step of 0 it never ends, and is not counted.
            assert!(ir.matches("load i32").count() == 2 && ir.contains("icmp ne i64 "), "{ir}");
        }
    }

    #[test]
    fn what_is_left_in_bytes_is_compared_with_a_constant() {
        let text = |difference: &str, done: &str| {
            format!(
                "entry: %e = ptrtoint ptr %behind to i64
                  br label %loop
                loop: %p = phi ptr [ %data, %entry ], [ %next, %loop ]
                  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
                  %at = getelementptr i8, ptr %p, i64 124
                  %next = getelementptr i8, ptr %p, i64 128
                  %x = load i32, ptr %at
                  %more = add i32 %sum, %x
                  %a = ptrtoint ptr %next to i64
                  %left = {difference} i64 %e, %a
                  %done = icmp {done}
                  br i1 %done, label %end, label %loop
                end: ret i32 %more"
            )
        };
        for (difference, done) in [
            ("sub nuw", "ult i64 %left, 128"),
            ("sub", "ult i64 %left, 128"),
            // One element of four bytes less.
            ("sub nuw", "ult i64 %left, 125"),
            ("sub nuw", "ule i64 %left, 124"),
        ] {
            let ir = counted(&text(difference, done));
            // In the first round, and divided by the step.
            assert!(
                ir.contains("umax.i64(i64 128, ") && ir.contains("phi i64 [ 0, ") && ir.contains("icmp eq i64"),
                "{ir}"
            );
            assert!(!ir.contains("br i1 %done"), "{ir}");
        }
        // A round may have a branch, if every round asks.
        let several = text("sub nuw", "ult i64 %left, 125").replace(
            "%a = ptrtoint ptr %next to i64",
            "%is = icmp ugt i32 %x, 5
            br i1 %is, label %large, label %turn
            large: store volatile i32 %x, ptr %data
            br label %turn
            turn: %a = ptrtoint ptr %next to i64",
        );
        assert!(!counted(&several.replace("%loop ]", "%turn ]")).contains("br i1 %done"));
        // It may wrap, there may be less than a step, or more than one is left at the end.
        for (difference, done) in
            [("sub", "ult i64 %left, 125"), ("sub nuw", "ult i64 %left, 64"), ("sub nuw", "ult i64 %left, 129")]
        {
            assert!(counted(&text(difference, done)).contains("br i1 %done"), "{done}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        let go = "br i1 %go, label %loop, label %end";
        for (condition, step) in [
            // LLVM counts constant steps by itself where nothing is checked; a product is no sum; what is equal may never be met.
            (format!("%go = icmp ult i64 %next, %n\n {go}"), "4"),
            (format!("%go = icmp ult i64 %next, %n\n {go}"), "%i"),
            // The threads of a block fill a tile.
            (format!("%go = icmp ult i64 %next, 262\n {go}"), "%step"),
            (format!("%go = icmp ne i64 %next, %n\n {go}"), "%step"),
            (format!("%go = icmp slt i64 %next, %n\n {go}"), "%step"),
        ] {
            assert!(!counted(&below(&condition, step)).contains("udiv"), "{condition}, {step}");
        }
    }
}

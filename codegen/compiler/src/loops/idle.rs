//! Loops that only count, until they have counted so far or reach the end of a slice, are one step.
//!
//! ```text
//! before: head: %at = phi i64 [ %first, %before ], [ %next, %latch ]
//!               %left = phi i64 [ %n, %before ], [ (add i64 %left, -1), %latch ]
//!               br i1 (icmp ult i64 %at, %len), label %latch, label %end
//!         latch: %next = add i64 %at, 1
//!               br i1 (icmp eq i64 %left, 0), label %found, label %head
//! after:  before: %last = add i64 %first, %n                  ; by llvm.uadd.with.overflow
//!               br i1 (it overflows, or %last is not below %len), label %end, label %found
//! ```
//!
//! `x.iter().zip(y).skip(i).step_by(n)` has such a loop in each round: `Zip` counts the elements that it skips, because to
//! make those of other iterators may do something. Before it, `Zip` goes as far as the shorter slice is long, so that `%first`
//! is `max(%at, %at + min(%m, %len - %at))` and `%n` what is left of `%m`. Then `%at + %m` is asked for. An address of the
//! element that the loop comes to may be computed in it.
//!
//! **Why it is right.** A loop without effects matters by where it ends and with which values. It jumps back `%n` times unless
//! its index is not below `%len` before. If `%first + %n` is below, without overflow, so are all; else the indices, which grow
//! by one, come to `%len`, or the first is above it.
//!
//! Of `Zip`, let `u` be the minimum. If `%at` is at most `%len`, `%at + u` does not overflow; it is `%first`, and with
//! `%m - u` more it is `%at + %m`. If it is above, so is `%first`, which is no less, and `%at + %m` overflows or is above, too.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module, PointerValue,
};
use crate::settled;

use super::checks::{Check, Emit, Number, Shape};
use super::limits::Limit;
use super::natural::{Graph, Loop, SimpleForm};

/// What removes the loops, and has those around them ask at their end whether there is another round.
const CLEAN: &str = "function(simplifycfg,loop(loop-rotate))";

/// Does so in every function.
pub fn step_over<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    let mut any = false;
    for function in settled::open_and_fast(module) {
        for found in Graph::of(function).innermost() {
            any |= asks_first(&found);
            any |= replace(context, module, function, &found).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot replace a loop that only counts: {error}"))
            })?;
        }
    }
    if any {
        form.lose();
        llvm::run_passes(module, form.machine, CLEAN)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}")))?;
    }
    Ok(())
}

/// Whether a loop asks at its head, and nowhere else, whether a sum overflows: as those around such loops do.
fn asks_first(found: &Loop<'_>) -> bool {
    let is_asked = |end: InstructionValue<'_>| {
        let either = llvm::int_operand(end, 0).and_then(|either| parts(either, Op::Or));
        either.is_some_and(|(a, b)| [a, b].iter().filter_map(IntValue::as_instruction_value).any(is_part))
    };
    let jumps = |end: InstructionValue<'_>| llvm::branch_targets(end).is_none();
    found.jumps_back().into_iter().all(jumps) && found.head.get_terminator().is_some_and(is_asked)
}

fn is_part(instruction: InstructionValue<'_>) -> bool {
    llvm::part_of(instruction).is_some()
}

fn replace<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
) -> std::result::Result<bool, BuilderError> {
    if found.blocks.len() != 2 || !found.blocks.iter().flat_map(|block| block.get_instructions()).all(only_counts) {
        return Ok(false);
    }
    let Some(shape) = Shape::of(function, found) else { return Ok(false) };
    let Some(idle) = Idle::of(&shape) else { return Ok(false) };
    let Some(start) = shape.before.get_terminator() else { return Ok(false) };
    let step = context.append_basic_block(function, "");
    let builder = context.create_builder();
    builder.position_at_end(step);
    let emit = Emit { context, module, builder, shape: &shape };
    let rounds = emit.jumps_back()?;
    let (first, count) = idle.of_zip().unwrap_or((idle.first, rounds));
    let [first, count, len] = [first, count, idle.check.len].map(|value| llvm::build_freeze(&emit.builder, value));
    let (last, overflows) = emit.overflowing("llvm.uadd.with.overflow", first, count)?;
    let is_past = emit.builder.build_int_compare(IntPredicate::UGE, last, len, "")?;
    let is_outside = emit.builder.build_or(overflows, is_past, "")?;
    let mut values = Vec::new();
    for phi in llvm::phis(idle.counted) {
        let value = llvm::incoming_from(phi, idle.latch).expect("`is_known_at_last` saw it");
        values.push((phi, idle.at_last(&emit, value, last, rounds)?));
    }
    emit.builder.build_conditional_branch(is_outside, idle.outside, idle.counted)?;
    for (phi, value) in values {
        llvm::add_incoming(phi, value, step);
    }
    for phi in llvm::phis(idle.outside) {
        if let Some(value) = llvm::incoming_from(phi, idle.check.block) {
            llvm::add_incoming(phi, value, step);
        }
    }
    // The loop keeps the block before it until it is removed.
    start.erase_from_basic_block();
    emit.builder.position_at_end(shape.before);
    emit.builder.build_conditional_branch(context.bool_type().const_int(1, false), step, found.head)?;
    Ok(true)
}

/// Whether an instruction computes with integers, or an address of them, or ends a block.
fn only_counts(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_opcode(), Op::Phi | Op::Add | Op::Sub | Op::ICmp | Op::GetElementPtr | Op::Br)
}

/// Such a loop.
struct Idle<'a, 'ctx> {
    shape: &'a Shape<'a, 'ctx>,
    check: Check<'ctx>,
    /// The index in the first round.
    first: IntValue<'ctx>,
    /// The block that jumps back.
    latch: BasicBlock<'ctx>,
    /// Where it goes when it has counted so far.
    counted: BasicBlock<'ctx>,
    /// Where it goes from the end of the slice.
    outside: BasicBlock<'ctx>,
}

impl<'a, 'ctx> Idle<'a, 'ctx> {
    fn of(shape: &'a Shape<'a, 'ctx>) -> Option<Self> {
        let found = shape.found;
        let &[latch] = &found.latches[..] else { return None };
        let check = shape.check(found.head).filter(|check| matches!(check.limit, Limit::Below))?;
        let Number { until_equal: true, .. } = shape.number()? else { return None };
        let (first, step) = shape.counted(check.index)?;
        if latch == found.head || step.get_zero_extended_constant() != Some(1) || !shape.is_invariant(check.len) {
            return None;
        }
        let leaves = |block: BasicBlock<'ctx>| {
            let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
            Some(if found.contains(then) { other } else { then }).filter(|to| !found.contains(*to))
        };
        let (counted, outside) = (leaves(latch)?, leaves(found.head)?);
        let idle = Self { shape, check, first, latch, counted, outside };
        let is_known = llvm::phis(counted).all(|phi| idle.is_known_at_last(phi));
        let same = |value: BasicValueEnum<'ctx>| found.is_invariant(value);
        let is_same = llvm::phis(outside).all(|phi| llvm::incoming_from(phi, found.head).is_some_and(same));
        (counted != outside && is_known && is_same).then_some(idle)
    }

    fn is_known_at_last(&self, phi: InstructionValue<'ctx>) -> bool {
        llvm::incoming_from(phi, self.latch).is_some_and(|value| self.is_known(value))
    }

    fn is_known(&self, value: BasicValueEnum<'ctx>) -> bool {
        let is_same = |value| self.shape.found.is_invariant(value);
        is_same(value)
            || match value {
                BasicValueEnum::IntValue(number) => self.shape.grows(number),
                _ => element(value).is_some_and(|(_, first, index)| {
                    is_same(first.into()) && (is_same(index.into()) || self.shape.grows(index))
                }),
            }
    }

    /// What a value is after the last round, whose index this is, and which came after so many jumps back.
    fn at_last(
        &self,
        emit: &Emit<'_, 'ctx>,
        value: BasicValueEnum<'ctx>,
        last: IntValue<'ctx>,
        rounds: IntValue<'ctx>,
    ) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
        if self.shape.found.is_invariant(value) {
            return Ok(value);
        }
        let BasicValueEnum::IntValue(number) = value else {
            let (gep, first, index) = element(value).expect("`is_known` saw it");
            let index = self.at_last(emit, index.into(), last, rounds)?.into_int_value();
            return Ok(llvm::build_other_element(&emit.builder, gep, first, index).into());
        };
        if number == self.check.index {
            return Ok(last.into());
        }
        if let Some(more) = more_than(number, self.check.index) {
            return Ok(emit.builder.build_int_add(last, last.get_type().const_int(more, false), "")?.into());
        }
        let (first, step) = emit.affine(number)?;
        let growth = emit.builder.build_int_mul(step, rounds, "")?;
        Ok(emit.builder.build_int_add(first, growth, "")?.into())
    }

    /// Where `Zip` was before it went as far as the shorter slice is long, and how far it is to go from there.
    fn of_zip(&self) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        // What is counted down to 0.
        let Number { counter, bound, .. } = self.shape.number()?;
        let (left, step) = self.shape.counted(counter)?;
        let is_left = bound.get_zero_extended_constant() == Some(0) && step.get_sign_extended_constant() == Some(-1);
        let left = is_left.then_some(left)?;
        let (all, gone) = parts(left, Op::Sub).or_else(|| less_of_ones(left))?;
        let (a, b) = called(gone, b"llvm.umin.i64").filter(|(a, b)| *a == all || *b == all)?;
        let rest = if a == all { b } else { a };
        // At first nothing has been gone through.
        if self.first == gone && rest == self.check.len {
            return Some((all.get_type().const_zero(), all));
        }
        let (at, end) = called(self.first, b"llvm.umax.i64")?;
        let both = [(at, end), (end, at)];
        let at = both.into_iter().find(|(at, end)| {
            parts(*end, Op::Add).is_some_and(|(a, b)| (a, b) == (*at, gone) || (a, b) == (gone, *at))
        })?;
        let at = at.0;
        (parts(rest, Op::Sub) == Some((self.check.len, at))).then_some((at, all))
    }
}

/// The address of an element, the one of the first, and the index.
fn element<'ctx>(value: BasicValueEnum<'ctx>) -> Option<(InstructionValue<'ctx>, PointerValue<'ctx>, IntValue<'ctx>)> {
    let gep = llvm::instruction_of(value)?;
    let (first, _, index) = llvm::element_of(gep)?;
    Some((gep, first, index))
}

/// The constant that a number is more than another.
fn more_than<'ctx>(number: IntValue<'ctx>, than: IntValue<'ctx>) -> Option<u64> {
    parts(number, Op::Add).filter(|(left, _)| *left == than)?.1.get_zero_extended_constant()
}

/// What an instruction of two operands is made of.
fn parts<'ctx>(value: IntValue<'ctx>, opcode: Op) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let from = value.as_instruction_value().filter(|from| from.get_opcode() == opcode)?;
    Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?))
}

/// A number of ones in all its lower bits, and what is subtracted of it: it is no more, as the least of it and another one.
fn less_of_ones<'ctx>(value: IntValue<'ctx>) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let (gone, all) = parts(value, Op::Xor)?;
    let ones = all.get_zero_extended_constant()?;
    let is_least = called(gone, b"llvm.umin.i64").is_some_and(|(a, b)| a == all || b == all);
    (is_least && ones & ones.wrapping_add(1) == 0).then_some((all, gone))
}

/// The arguments of a call of an intrinsic.
fn called<'ctx>(value: IntValue<'ctx>, name: &[u8]) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
    let is_called = |from| llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes() == name);
    let from = value.as_instruction_value().filter(|from| is_called(*from))?;
    Some((llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?))
}

#[cfg(test)]
mod tests {
    use arbtest::arbitrary::{Result, Unstructured};

    use super::super::random_tests::do_the_same;
    use super::super::{SimpleForm, count};
    use super::step_over;
    use crate::llvm::run_passes;

    /// A loop that passes over elements of what two iterators have together, one by one, in each of its rounds.
    fn skips(u: &mut Unstructured<'_>) -> Result<String> {
        let skipped = *u.choose(&["%more", "%less", "%narrow", "7", "0", "-1", "127", "95"])?;
        let len = *u.choose(&["%end", "%shorter", "40"])?;
        let (first, count) =
            *u.choose(&[("%farther", "%left"), ("%farther", "%left"), ("%at", "%m"), ("%at", "%other")])?;
        let smaller = *u.choose(&["i64 %m, i64 %rest", "i64 %rest, i64 %m"])?;
        let farther = *u.choose(&["i64 %at, i64 %ahead", "i64 %ahead, i64 %at"])?;
        let gone = *u.choose(&["%u", "%u", "%u", "%rest"])?;
        let taken = *u.choose(&["%i", "%i.next", "%n"])?;
        let promise = *u.choose(&["", "", "inbounds nuw"])?;
        let indexed = *u.choose(&["%i", "%i", "%i.next", "%n", "%first"])?;
        let place = *u.choose(&["%to", "%element"])?;
        let again = *u.choose(&["%i.next", "%i.next", "%i", "%behind"])?;
        let is_known = !skipped.contains('%') && u.arbitrary()?;
        let smaller = if is_known { smaller.replace("%m", skipped) } else { smaller.to_string() };
        let left = match (is_known, skipped) {
            (true, "7" | "0" | "-1" | "127") => format!("xor i64 %u, {skipped}"),
            (true, _) => format!("sub i64 {skipped}, %u"),
            (false, _) => "sub i64 %m, %u".into(),
        };
        Ok(format!(
            "declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            define void @f(
                ptr %to, i32 noundef %short, i64 noundef %wide, i64 noundef %more, i64 noundef %first, i64 noundef %end
            ) {{
            entry: %narrow = zext i32 %short to i64
              %less = add i64 %more, -1
              %shorter = call i64 @llvm.umin.i64(i64 %end, i64 %wide)
              %m = add i64 {skipped}, 0
              br label %loop
            loop: %at = phi i64 [ %first, %entry ], [ {again}, %found ]
              %rest = sub i64 {len}, %at
              %u = call i64 @llvm.umin.i64({smaller})
              %ahead = add i64 {gone}, %at
              %farther = call i64 @llvm.umax.i64({farther})
              %left = {left}
              %other = sub i64 %m, %rest
              br label %head
            head: %i = phi i64 [ {first}, %loop ], [ %i.next, %latch ]
              %n = phi i64 [ {count}, %loop ], [ %n.next, %latch ]
              %inside = icmp ult i64 %i, {len}
              br i1 %inside, label %latch, label %out
            latch: %i.next = add i64 %i, 1
              %element = getelementptr {promise} [2 x i32], ptr %to, i64 {indexed}
              %n.next = add i64 %n, -1
              %done = icmp eq i64 %n, 0
              br i1 %done, label %found, label %head
            found: %behind = add i64 %i, 2
              %taken = trunc i64 {taken} to i32
              store volatile i32 %taken, ptr {place}
              br label %loop
            out: %last = trunc i64 %at to i32
              store volatile i32 %last, ptr %to
              ret void
            }}"
        ))
    }

    #[test]
    fn one_step_goes_as_far_as_many() {
        do_the_same(
            skips,
            |context, module, machine| step_over(context, module, &SimpleForm::of(machine)).unwrap(),
            |_, after| after.contains("uadd.with.overflow"),
        );
    }

    #[test]
    fn rounds_that_end_where_a_sum_overflows_are_as_many() {
        do_the_same(
            skips,
            |context, module, machine| {
                step_over(context, module, &SimpleForm::of(machine)).unwrap();
                // What is not frozen for nothing.
                run_passes(module, machine, "function(instcombine<no-verify-fixpoint>)").unwrap();
                count(context, module, &SimpleForm::of(machine)).unwrap();
            },
            |_, after| after.contains("udiv"),
        );
    }
}

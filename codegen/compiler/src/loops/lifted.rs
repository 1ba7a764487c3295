//! Asks before a nest of loops what a split loop asks in every round of the one around it.
//!
//! ```text
//! before: row:   %y = phi i64 [ %first, %before ], [ %next, %rest ]
//!                %last = (%y * %width + %x) + %rounds, with both overflows
//!                br i1 (%last < %len, and no overflow), label %fast, label %slow    ; as `checks.rs` wrote it
//!         fast:  …                                                                 ; one row without a check
//!         slow:  …                                                                 ; one row as it was written
//!         rest:  br i1 (icmp eq i64 %next, %end), label %out, label %row
//! after:  before: br i1 (the same of the last row), label %row.copy, label %row
//!         row.copy: …                                                              ; all rows by `fast`
//!         row:   …                                                                 ; all rows by `slow`
//! ```
//!
//! A window of an image, as a blur or a convolution has, is a loop of a few rounds within a loop of a few rounds. There the
//! test took longer than the row that it is for: six numbers of 64 bits, and a product of two, where a row has three pixels.
//!
//! **Why it is right.** The test is made of sums and products of numbers without a sign, each with whether it overflows, which
//! are compared with what does not change. [`super::bounds`] says what such a number is at most in all rounds: if that does
//! not overflow and is within the limit, none does, and the test holds in each round. Else the nest runs as it was. What is
//! frozen in a round may be any number there, also the one that the test before the nest took it for.
//!
//! The nest as it was asks no more in each round: three copies of the inner loop would hold the registers of all. So the test
//! before the nest must be one that holds where the others would, but for what is at an image's edge: nothing in it may shrink.

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntValue, Module, TargetMachine, Unroll,
};
use crate::settled;

use super::bounds::overflowing;
use super::checks::{Emit, Shape, may_be_split, split_innermost};
use super::limits::less;
use super::natural::{Graph, Loop, SimpleForm};

/// Loops around each other whose rounds are asked for at once.
const MOST_LOOPS: usize = 3;

/// Instructions of a nest that is copied.
const MOST_INSTRUCTIONS: usize = 300;

/// How deep an index may be computed.
const MOST_STEPS: u32 = 12;

/// Parts of a test.
const MOST_PARTS: usize = 24;

/// Rounds of a loop that LLVM may make straight code of, and instructions of that.
const FEW_ROUNDS: usize = 4;

/// Gives loops one block before them, and moves there what is the same in all rounds.
const MOVE: &str = "loop-simplify,lcssa,loop-mssa(licm<allowspeculation>)";

/// Removes the loops that run no more.
const TIDY: &str = "simplifycfg";

/// Splits every loop where all that is needed is known before it, and asks that before the loops around it where it can.
pub fn split<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    form.give(module)?;
    for function in settled::open_and_fast(module) {
        let tests = split_innermost(context, module, form, function)?;
        lift(context, module, form.machine, function, tests)?;
    }
    Ok(())
}

/// Lifts the tests that end these blocks of a function: each goes to a loop without checks, or else to one with them.
fn lift<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    function: FunctionValue<'ctx>,
    mut tests: Vec<BasicBlock<'ctx>>,
) -> Result<()> {
    let mut is_changed = false;
    for _ in 0..MOST_LOOPS {
        let loops = Graph::of(function).loops();
        tests.retain(|test| loops.iter().any(|found| found.contains(*test)));
        if tests.is_empty() {
            break;
        }
        run(function, machine, MOVE)?;
        tests = lift_once(context, module, function, &tests).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot ask for all rounds of a nest of loops: {error}"))
        })?;
        is_changed |= !tests.is_empty();
    }
    if is_changed {
        run(function, machine, TIDY)?;
    }
    Ok(())
}

fn run(function: FunctionValue<'_>, machine: &TargetMachine, passes: &str) -> Result<()> {
    llvm::run_passes_on_function(function, machine, passes).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{passes}` failed: {error}")).into()
    })
}

/// Lifts tests out of the loops next around them; returns where they are then.
fn lift_once<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    tests: &[BasicBlock<'ctx>],
) -> Result<Vec<BasicBlock<'ctx>>, BuilderError> {
    let mut lifted = Vec::new();
    let mut heads: HashSet<BasicBlock<'ctx>> = HashSet::new();
    for test in tests {
        // Each copy is of blocks that there were not before.
        let loops = Graph::of(function).loops();
        let around = loops.iter().filter(|found| found.contains(*test)).min_by_key(|found| found.blocks.len());
        let Some(found) = around.filter(|found| heads.insert(found.head)) else { continue };
        let within: Vec<_> = tests.iter().copied().filter(|test| found.contains(*test)).collect();
        lifted.extend(lift_out_of(context, module, function, found, &within)?);
    }
    Ok(lifted)
}

/// Lifts tests out of one loop: before it, all of them are asked of all its rounds. Returns the block that ends in that.
fn lift_out_of<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    found: &Loop<'ctx>,
    tests: &[BasicBlock<'ctx>],
) -> Result<Option<BasicBlock<'ctx>>, BuilderError> {
    if !may_be_split(context, found, MOST_INSTRUCTIONS) {
        return Ok(None);
    }
    let shape = Shape::of(function, found).or_else(|| Shape::of_narrow(function, found));
    let is_long = |shape: &Shape<'_, 'ctx>| shape.constant_rounds().is_none_or(|rounds| rounds > FEW_ROUNDS);
    let Some(shape) = shape.filter(is_long).map(Shape::through_frozen) else { return Ok(None) };
    let known: Vec<_> = tests.iter().filter_map(|test| Some((*test, Parts::of(&shape, *test)?))).collect();
    let Some(end) = shape.before.get_terminator().filter(|_| !known.is_empty()) else { return Ok(None) };
    let builder = context.create_builder();
    builder.position_before(&end);
    let emit = Emit { context, module, builder, shape: &shape };
    let rounds = llvm::build_freeze(&emit.builder, emit.jumps_back()?);
    let mut all = context.bool_type().const_int(1, false);
    for part in known.iter().flat_map(|(_, parts)| &parts.0) {
        let holds = emit.always(part, rounds)?;
        all = emit.builder.build_and(all, holds, "")?;
    }
    let copies = llvm::copy_blocks(context, function, &found.blocks);
    end.erase_from_basic_block();
    emit.builder.position_at_end(shape.before);
    emit.builder.build_conditional_branch(all, copies[0], found.head)?;
    let copy = |block: BasicBlock<'ctx>| found.blocks.iter().position(|other| *other == block).map(|at| copies[at]);
    for (test, _) in &known {
        if let Some(end) = copy(*test).and_then(|copy| copy.get_terminator()) {
            llvm::always_branch(context, end, true);
        }
        if let Some(end) = test.get_terminator() {
            llvm::always_branch(context, end, false);
        }
    }
    let latches = found.latches.iter().filter_map(|latch| copy(*latch)?.get_terminator());
    llvm::forget_loop(context, &latches.collect::<Vec<_>>());
    // It is asked once.
    llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
    Ok(Some(shape.before))
}

/// What all has to hold where a test does.
struct Parts<'ctx>(Vec<Part<'ctx>>);

enum Part<'ctx> {
    /// What is the same in all rounds, or its opposite.
    Same(IntValue<'ctx>, bool),
    /// A number is below another one, which is the same in all rounds, or no more.
    Within { low: IntValue<'ctx>, high: IntValue<'ctx>, strict: bool },
    /// A sum or a product does not overflow.
    Exact(InstructionValue<'ctx>),
}

impl<'ctx> Parts<'ctx> {
    /// Those of the test that a block ends in, if all are known.
    fn of(shape: &Shape<'_, 'ctx>, block: BasicBlock<'ctx>) -> Option<Self> {
        let end = block.get_terminator()?;
        llvm::branch_targets(end)?;
        let mut parts = Self(Vec::new());
        parts.collect(shape, llvm::int_operand(end, 0)?, true)?;
        (!parts.0.is_empty()).then_some(parts)
    }

    fn collect(&mut self, shape: &Shape<'_, 'ctx>, value: IntValue<'ctx>, holds: bool) -> Option<()> {
        if self.0.len() > MOST_PARTS {
            return None;
        }
        if let Some(constant) = value.get_zero_extended_constant() {
            return ((constant != 0) == holds).then_some(());
        }
        if shape.is_invariant(value) {
            self.0.push(Part::Same(value, holds));
            return Some(());
        }
        let from = value.as_instruction_value()?;
        let part = |index| llvm::int_operand(from, index);
        match from.get_opcode() {
            Op::Freeze => self.collect(shape, part(0)?, holds),
            Op::Xor if part(1)?.get_zero_extended_constant() == Some(1) => self.collect(shape, part(0)?, !holds),
            Op::And if holds => {
                self.collect(shape, part(0)?, true)?;
                self.collect(shape, part(1)?, true)
            }
            Op::Or if !holds => {
                self.collect(shape, part(0)?, false)?;
                self.collect(shape, part(1)?, false)
            }
            Op::ExtractValue if !holds => {
                let (call, _) = llvm::part_of(from).filter(|(_, part)| *part == 1)?;
                overflowing(call)?;
                let is_known = |index| {
                    llvm::int_operand(call, index)
                        .is_some_and(|part| shape.bound(part).is_some() && !shrinks(shape, part, MOST_STEPS))
                };
                (is_known(0) && is_known(1)).then(|| self.0.push(Part::Exact(call)))
            }
            Op::ICmp => {
                let (low, high, strict) = less(from, holds)?;
                let is_known =
                    shape.is_invariant(high) && shape.bound(low).is_some() && !shrinks(shape, low, MOST_STEPS);
                is_known.then(|| self.0.push(Part::Within { low, high, strict }))
            }
            _ => None,
        }
    }
}

/// Whether a part of what a number is computed from is less in each round, so that the test before the nest would never hold:
/// rows from the last to the first, or what is left of a triangle.
fn shrinks<'ctx>(shape: &Shape<'_, 'ctx>, value: IntValue<'ctx>, steps: u32) -> bool {
    if shape.is_invariant(value) {
        return false;
    }
    let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return true };
    let is_less = |value: IntValue<'ctx>| {
        let is_opposite = || {
            let from = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Sub);
            from.and_then(|from| llvm::int_operand(from, 0))
                .is_some_and(|zero| zero.get_zero_extended_constant() == Some(0))
        };
        value.get_sign_extended_constant().map_or_else(is_opposite, |constant| constant < 0)
    };
    if let Some((_, step)) = shape.counted(value) {
        return is_less(step);
    }
    let of = |index| llvm::int_operand(from, index).is_some_and(|part| shrinks(shape, part, steps - 1));
    match from.get_opcode() {
        Op::Sub => llvm::int_operand(from, 1).is_none_or(|part| !shape.is_invariant(part)) || of(0),
        Op::Mul => [0, 1].into_iter().any(|index| llvm::int_operand(from, index).is_none_or(is_less)) || of(0) || of(1),
        Op::ExtractValue => llvm::part_of(from).is_none_or(|(call, _)| {
            [0, 1]
                .into_iter()
                .any(|index| llvm::int_operand(call, index).is_none_or(|part| shrinks(shape, part, steps - 1)))
        }),
        Op::Phi => true,
        _ => of(0) || of(1),
    }
}

impl<'ctx> Emit<'_, 'ctx> {
    /// Whether a part of a test holds in every round.
    fn always(&self, part: &Part<'ctx>, rounds: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        match part {
            Part::Same(value, holds) => {
                let value = llvm::build_freeze(&self.builder, *value);
                if *holds { Ok(value) } else { self.builder.build_not(value, "") }
            }
            Part::Within { low, high, strict } => self.stays_bounded((*low, *high), *strict, rounds),
            Part::Exact(call) => self.stays_exact(*call, rounds),
        }
    }
}

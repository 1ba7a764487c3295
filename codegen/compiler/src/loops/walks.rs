//! Has the addresses of an unrolled loop follow each other, where a round goes on by a step only known at run time.
//!
//! ```text
//! before: loop: %k = phi i64 [ 0, %before ], [ (add i64 %k, 4), %loop ]            ; %n is a `u32`
//!               load float, ptr (getelementptr float, ptr %column, i64 (mul i64 %k, %n))
//!               load float, ptr (getelementptr float, ptr %column, i64 (mul i64 (or disjoint i64 %k, 1), %n))
//!               …
//! after:  loop: %p = phi ptr [ %column, %before ], [ %p.4, %loop ]
//!               %step = mul i64 (zext i32 (call i32 asm "mov.b32 $0, $1;" (i32 %n))), 4
//!               load float, ptr %p
//!               %p.1 = getelementptr i8, ptr %p, i64 %step
//!               load float, ptr %p.1
//!               …
//! ```
//!
//! LLVM's code generator (`LoopStrengthReduce.cpp`) keeps a multiple of the step for each of the four addresses, or a pointer
//! of its own, and then each address is a sum of 64 bits, which is two instructions and two registers a multiple. Where the
//! step has 32 bits, the next address is one instruction: `IMAD.WIDE` multiplies it by the size of an element and adds all
//! 64 bits. nvcc has it so. The code generator would undo it, were the step not behind inline PTX, in the loop.
//!
//! So is each address of a loop that divides floats, which is not unrolled, if there are several by one step.
//!
//! **Why it is right.** Addresses are taken for sums of multiples: of phis, of products of a phi and what the loop does not
//! change, of other values, and of one, all of 64 bits. Sums and products of 64 bits hold whatever overflows. Addresses that
//! differ only by multiples of one value, and grow by a multiple of that value in each round, are the same as those that
//! are computed one from the other. A pointer stays one into what it pointed into.

use std::collections::HashMap;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, PointerValue, TargetMachine, Unroll,
};

use super::branches::is_convergent;
use super::counters::{most, users};
use super::natural::{self, Graph, Loop};

/// What cleans up.
const CLEAN: &str = "adce";

/// How deep an address may be computed.
const MOST_STEPS: u32 = 12;

/// Steps of a round.
const MOST_ADDRESSES: i64 = 8;

/// Addresses of a round, for which a loop gets a twin.
const FEWEST_ADDRESSES: i64 = 4;

/// Instructions of a loop that gets a twin.
const MOST_INSTRUCTIONS: usize = 150;

/// Rewrites the addresses of every such loop.
pub fn walk<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    natural::simplify(module, machine)?;
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        let changed = walk_function(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot rewrite the addresses of a loop: {error}"))
        })?;
        // The pointers that nothing looks at any more but each other: neither the code generator nor ptxas drops them.
        if changed {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}"))
            })?;
        }
    }
    // As after jumps were threaded: one PTX in about eight runs had two counters of a loop the other way round.
    llvm::sort_phi_uses(module);
    Ok(())
}

/// Says whether there was such a loop.
fn walk_function<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
) -> std::result::Result<bool, BuilderError> {
    let graph = Graph::of(function);
    let mut changed = false;
    for found in graph.innermost() {
        let ([latch], Some(before)) = (&found.latches[..], graph.block_before(&found)) else { continue };
        let place = Place { context, before, latch: *latch, found: &found };
        let (narrow, wide): (Vec<_>, Vec<_>) =
            Sums::new(context, &found).groups().into_iter().partition(|group| is_narrow(group.step));
        if wide.iter().any(Group::is_long) && may_be_copied(context, &found, &wide) {
            place.of_two(function, &wide)?;
            changed = true;
            continue;
        }
        changed |= !narrow.is_empty();
        for group in narrow {
            group.write(&place, None)?;
        }
    }
    Ok(changed)
}

/// Whether a loop may have a twin: not one that is the twin of another, or that a user keeps as it is. Only one that computes
/// with `f64`, whose arithmetic hides how long loads take, or that loads by such addresses alone, as the sum of a column does:
/// else with `f32` what counts is how many loads are under way, and ptxas asks for fewer at once where each address waits for
/// the last (on an H100 a product of a matrix and a vector of `f32` took 7 % longer, and the sum of a column half as long).
/// Or one whose first address is a step ahead, because a round stands before it (`zip(column.iter().step_by(n))`): the code
/// generator adds a counter to four pointers then, which leaves ptxas registers for two loads at a time.
fn may_be_copied<'ctx>(context: &Context, found: &Loop<'ctx>, wide: &[Group<'ctx>]) -> bool {
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    let is_double = |from| llvm::float_result(from).is_some_and(|value| value.get_type() == context.f64_type());
    let walks = |load: InstructionValue<'ctx>| {
        let address = load.get_operand(0).and_then(|operand| operand.value()).and_then(llvm::instruction_of);
        address.is_some_and(|gep| wide.iter().flat_map(|group| &group.members).any(|member| member.gep == gep))
    };
    let all_walk = || instructions().filter(|from| llvm::is_plain_load(*from)).all(walks);
    instructions().take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS
        && (instructions().any(is_double)
            || all_walk()
            || wide.iter().any(|group| group.is_long() && group.first() > 0))
        && !instructions().any(is_convergent)
        && !llvm::unroll_is_disabled(context, &found.jumps_back())
}

/// Where a loop stands.
struct Place<'a, 'ctx> {
    context: &'ctx Context,
    before: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    found: &'a Loop<'ctx>,
}

impl<'ctx> Place<'_, 'ctx> {
    /// Writes a twin of the loop, for steps that have 32 bits.
    fn of_two(&self, function: FunctionValue<'ctx>, wide: &[Group<'ctx>]) -> std::result::Result<(), BuilderError> {
        let Self { context, before, found, .. } = *self;
        let Some(end) = before.get_terminator() else { return Ok(()) };
        let builder = context.create_builder();
        builder.position_before(&end);
        let mut steps: Vec<(IntValue<'ctx>, IntValue<'ctx>)> = Vec::new();
        let mut fits: Option<IntValue<'ctx>> = None;
        for group in wide.iter().filter(|group| group.is_long()) {
            if steps.iter().any(|(step, _)| *step == group.step) {
                continue;
            }
            let step = llvm::build_freeze(&builder, group.step);
            let limit = step.get_type().const_int(1 << 32, false);
            let is_below = builder.build_int_compare(IntPredicate::ULT, step, limit, "")?;
            fits = Some(match fits {
                Some(known) => builder.build_and(known, is_below, "")?,
                None => is_below,
            });
            steps.push((group.step, builder.build_int_truncate(step, context.i32_type(), "")?));
        }
        let Some(fits) = fits else { return Ok(()) };
        let copies = llvm::copy_blocks(context, function, &found.blocks);
        builder.build_conditional_branch(fits, copies[0], found.head)?;
        end.erase_from_basic_block();
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
        let Some(at) = found.blocks.iter().position(|block| *block == self.latch) else { return Ok(()) };
        let twin = Loop { head: copies[0], latches: vec![copies[at]], blocks: copies };
        llvm::forget_loop(context, &twin.jumps_back());
        let place = Place { latch: twin.latches[0], found: &twin, ..*self };
        for group in Sums::new(context, &twin).groups() {
            let known = steps.iter().find(|(step, _)| *step == group.step).map(|(_, number)| *number);
            group.write(&place, known)?;
        }
        Ok(())
    }
}

/// What is added up, and how often.
#[derive(Clone, Copy, PartialEq)]
enum Part<'ctx> {
    One,
    Value(BasicValueEnum<'ctx>),
    /// A phi of the loop's head, and what the loop does not change.
    Product(IntValue<'ctx>, IntValue<'ctx>),
}

type Sum<'ctx> = Vec<(Part<'ctx>, i64)>;

/// Adds a multiple of one sum to another.
fn add<'ctx>(sum: &mut Sum<'ctx>, other: &[(Part<'ctx>, i64)], times: i64) {
    for (part, count) in other {
        let count = count.wrapping_mul(times);
        match sum.iter_mut().find(|(known, _)| known == part) {
            Some((_, known)) => *known = known.wrapping_add(count),
            None => sum.push((*part, count)),
        }
    }
    sum.retain(|(_, count)| *count != 0);
}

fn count_of(sum: &Sum<'_>, part: Part<'_>) -> i64 {
    sum.iter().find(|(known, _)| *known == part).map_or(0, |(_, count)| *count)
}

struct Sums<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    one: IntValue<'ctx>,
    /// Phis that are always so much more than another.
    ahead: Vec<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>, i64)>,
}

impl<'a, 'ctx> Sums<'a, 'ctx> {
    fn new(context: &'ctx Context, found: &'a Loop<'ctx>) -> Self {
        let mut sums = Self { found, one: context.i64_type().const_int(1, false), ahead: Vec::new() };
        let mut others: Vec<(BasicValueEnum<'ctx>, Sum<'ctx>, Sum<'ctx>)> = Vec::new();
        for phi in llvm::phis(found.head).map(llvm::result) {
            let first = found.incoming(phi).filter(|_| phi.is_int_value() || phi.is_pointer_value());
            let (Some((first, _)), Some(growth)) = (first, sums.of_phi(phi)) else { continue };
            let first = sums.of(first, MOST_STEPS);
            let known = others.iter().find_map(|(other, other_first, other_growth)| {
                let (mut apart, mut difference) = (first.clone(), growth.clone());
                add(&mut apart, other_first, -1);
                add(&mut difference, other_growth, -1);
                match apart[..] {
                    _ if !difference.is_empty() => None,
                    [] => Some((phi, *other, 0)),
                    [(Part::One, count)] => Some((phi, *other, count)),
                    _ => None,
                }
            });
            match known {
                Some(known) => sums.ahead.push(known),
                None => others.push((phi, first, growth)),
            }
        }
        sums
    }

    /// What a value of 64 bits is the sum of.
    fn of(&self, value: BasicValueEnum<'ctx>, steps: u32) -> Sum<'ctx> {
        if let BasicValueEnum::IntValue(number) = value
            && let Some(constant) = number.get_sign_extended_constant()
        {
            return if constant == 0 { Vec::new() } else { vec![(Part::One, constant)] };
        }
        if let Some((_, other, more)) = self.ahead.iter().find(|(phi, ..)| *phi == value) {
            let mut sum = vec![(Part::Value(*other), 1)];
            add(&mut sum, &[(Part::One, *more)], 1);
            return sum;
        }
        // What a loop does not change is a value, but for how much it is more than another.
        let is_more = |from: &InstructionValue<'ctx>| match llvm::element_of(*from) {
            Some((.., index)) => index.is_const(),
            None => from.get_opcode() == Op::Add && constant(*from, 1).is_some(),
        };
        let is_value = |from: &InstructionValue<'ctx>| self.found.is_invariant(value) && !is_more(from);
        let from = llvm::instruction_of(value).filter(|from| steps > 0 && !is_value(from));
        from.and_then(|from| self.of_instruction(from, steps - 1)).unwrap_or_else(|| vec![(Part::Value(value), 1)])
    }

    fn of_instruction(&self, from: InstructionValue<'ctx>, steps: u32) -> Option<Sum<'ctx>> {
        if let Some((base, size, index)) = llvm::element_of(from) {
            let mut sum = self.of(base.into(), steps);
            add(&mut sum, &self.wide(index, steps)?, i64::try_from(size).ok()?);
            return Some(sum);
        }
        let part = |index| self.wide(llvm::int_operand(from, index)?, steps);
        let mut sum = match from.get_opcode() {
            Op::Add | Op::Sub | Op::Mul | Op::Shl => part(0)?,
            Op::Or if llvm::is_disjoint(from) => part(0)?,
            _ => return None,
        };
        match from.get_opcode() {
            Op::Sub => add(&mut sum, &part(1)?, -1),
            Op::Shl => {
                let by = llvm::int_operand(from, 1)?.get_zero_extended_constant().filter(|by| *by < 32)?;
                sum = times(&sum, 1 << by);
            }
            Op::Mul => {
                let (left, right) = (llvm::int_operand(from, 0)?, llvm::int_operand(from, 1)?);
                sum = match right.get_sign_extended_constant() {
                    Some(constant) => times(&sum, constant),
                    None if self.found.is_invariant(right.into()) => self.product(&sum, right)?,
                    None if self.found.is_invariant(left.into()) => self.product(&part(1)?, left)?,
                    None => return None,
                };
            }
            _ => add(&mut sum, &part(1)?, 1),
        }
        Some(sum)
    }

    fn wide(&self, value: IntValue<'ctx>, steps: u32) -> Option<Sum<'ctx>> {
        (value.get_type().get_bit_width() == 64).then(|| self.of(value.into(), steps))
    }

    /// A sum of phis and constants times what the loop does not change.
    fn product(&self, sum: &Sum<'ctx>, by: IntValue<'ctx>) -> Option<Sum<'ctx>> {
        sum.iter()
            .map(|(part, count)| match part {
                Part::One => Some((Part::Value(by.into()), *count)),
                Part::Value(BasicValueEnum::IntValue(phi)) if self.found.incoming(*phi).is_some() => {
                    Some((Part::Product(*phi, by), *count))
                }
                _ => None,
            })
            .collect()
    }

    /// By what a sum grows in each round: how often which one value, which is 1 where it grows by a constant.
    fn growth(&self, sum: &Sum<'ctx>) -> Option<(IntValue<'ctx>, i64)> {
        match self.all_growth(sum)?[..] {
            [(Part::Value(BasicValueEnum::IntValue(step)), times)] if times > 0 => Some((step, times)),
            [(Part::One, times)] if times > 0 => Some((self.one, times)),
            _ => None,
        }
    }

    /// By what a sum grows in each round.
    fn all_growth(&self, sum: &Sum<'ctx>) -> Option<Sum<'ctx>> {
        let mut growth = Vec::new();
        for (part, count) in sum {
            match part {
                Part::One => {}
                Part::Value(value) if self.found.is_invariant(*value) => {}
                Part::Value(value) => add(&mut growth, &self.of_phi(*value)?, *count),
                Part::Product(phi, by) => {
                    let [(Part::One, step)] = self.of_phi((*phi).into())?[..] else { return None };
                    add(&mut growth, &[(Part::Value((*by).into()), step)], *count);
                }
            }
        }
        Some(growth)
    }

    /// By what a phi of the head grows.
    fn of_phi(&self, phi: BasicValueEnum<'ctx>) -> Option<Sum<'ctx>> {
        let (_, next) = self.found.incoming(phi)?;
        let mut growth = self.of(next, MOST_STEPS);
        add(&mut growth, &self.of(phi, 1), -1);
        let is_same = |(part, _): &(Part<'ctx>, i64)| match part {
            Part::One => true,
            Part::Value(value) => self.found.is_invariant(*value),
            Part::Product(..) => false,
        };
        growth.iter().all(is_same).then_some(growth)
    }

    /// The addresses that every round uses, in the loop's first block, and that follow each other.
    fn groups(&self) -> Vec<Group<'ctx>> {
        let mut groups: Vec<Group<'ctx>> = Vec::new();
        for gep in self.found.head.get_instructions().filter(is_address) {
            let mut rest = self.of(llvm::result(gep), MOST_STEPS);
            let Some((step, growth)) = self.growth(&rest) else { continue };
            let own = [Part::Value(step.into()), Part::One].map(|part| count_of(&rest, part));
            add(&mut rest, &[(Part::Value(step.into()), own[0]), (Part::One, own[1])], -1);
            let member = Member { gep, steps: own[0], bytes: own[1] };
            let is_same = |group: &&mut Group<'ctx>| {
                let mut difference = group.rest.clone();
                add(&mut difference, &rest, -1);
                group.step == step && group.growth == growth && difference.is_empty()
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.members.push(member),
                None => groups.push(Group { step, growth, rest, members: vec![member] }),
            }
        }
        // An address alone follows that of the round before. Where there are others by the same step, they would be sums of one
        // counter else. A loop that divides floats is not unrolled; others have several addresses a round, or gain less.
        let alone: Vec<IntValue<'ctx>> =
            groups.iter().filter(|group| group.is_alone()).map(|group| group.step).collect();
        let divides = self.found.head.get_instructions().any(|from| from.get_opcode() == Op::FDiv);
        let is_one_of_several = |group: &Group<'ctx>| {
            let is_fit = divides && self.found.blocks.len() == 1 && is_narrow(group.step) && !group.step.is_const();
            is_fit && alone.iter().filter(|step| **step == group.step).count() > 1
        };
        for group in &mut groups {
            group.lead();
        }
        groups.retain(|group| {
            group.unit().is_some() && (!group.is_alone() || is_one_of_several(group) || group.leads_on())
        });
        groups
    }
}

/// By what an address or a number grows in each round of a loop: multiples of numbers that the loop does not change, and
/// bytes, or ones.
pub(super) struct Growth<'ctx>(Vec<(Option<IntValue<'ctx>>, i64)>);

/// By what an address or a number grows in each round, if it is a sum of multiples.
pub(super) fn growth<'ctx>(
    context: &'ctx Context,
    found: &Loop<'ctx>,
    from: InstructionValue<'ctx>,
) -> Option<Growth<'ctx>> {
    let sums = Sums::new(context, found);
    let growth = sums.all_growth(&sums.of(llvm::result(from), MOST_STEPS)).filter(|growth| !growth.is_empty())?;
    let part = |(part, count)| match part {
        Part::One => Some((None, count)),
        Part::Value(BasicValueEnum::IntValue(value)) => Some((Some(value), count)),
        Part::Value(_) | Part::Product(..) => None,
    };
    growth.into_iter().map(part).collect::<Option<Vec<_>>>().map(Growth)
}

/// By how many bytes an address is behind another in every round.
pub(super) fn bytes_behind<'ctx>(
    context: &'ctx Context,
    found: &Loop<'ctx>,
    [behind, other]: [InstructionValue<'ctx>; 2],
) -> Option<i64> {
    let sums = Sums::new(context, found);
    let mut apart = sums.of(llvm::result(behind), MOST_STEPS);
    add(&mut apart, &sums.of(llvm::result(other), MOST_STEPS), -1);
    match apart[..] {
        [] => Some(0),
        [(Part::One, bytes)] => Some(bytes),
        _ => None,
    }
}

impl<'ctx> Growth<'ctx> {
    /// The numbers, each with how often it is added; a constant has none.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Option<IntValue<'ctx>>, i64)> {
        self.0.iter().copied()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = IntValue<'ctx>> {
        self.0.iter().filter_map(|(value, _)| *value)
    }

    /// Writes it as bytes. The code generator would compute them before both loops, where they need registers for longer.
    pub(super) fn write(
        &self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
    ) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let wide = context.i64_type();
        let mut sum = wide.const_zero();
        for (value, count) in &self.0 {
            let count = wide.const_int(count.cast_unsigned(), true);
            let part = match *value {
                Some(value) => builder.build_int_mul(llvm::build_hidden(context, builder, value)?, count, "")?,
                None => count,
            };
            sum = if sum == wide.const_zero() { part } else { builder.build_int_add(sum, part, "")? };
        }
        Ok(sum)
    }
}

/// An operand that is a constant.
fn constant(from: InstructionValue<'_>, index: u32) -> Option<i64> {
    llvm::int_operand(from, index)?.get_sign_extended_constant()
}

fn times<'ctx>(sum: &Sum<'ctx>, by: i64) -> Sum<'ctx> {
    let mut product = Vec::new();
    add(&mut product, sum, by);
    product
}

/// Whether something is loaded from where an instruction points, or stored there; or the rest of the loop goes on there.
fn is_address(gep: &InstructionValue<'_>) -> bool {
    llvm::element_of(*gep).is_some() && (is_accessed(*gep) || leads(*gep))
}

fn is_accessed(gep: InstructionValue<'_>) -> bool {
    users(gep).into_iter().any(|user| matches!(user.get_opcode(), Op::Load | Op::Store))
}

/// Whether an address is where the rest of the loop goes on, see [`super::rest`].
fn leads(gep: InstructionValue<'_>) -> bool {
    users(gep).into_iter().any(|user| user.get_opcode() == Op::Phi && user.get_parent() != gep.get_parent())
}

/// Whether a step has 32 bits, by what it is computed from.
fn is_narrow(step: IntValue<'_>) -> bool {
    most(step, MOST_STEPS).is_some_and(|most| most <= u64::from(u32::MAX))
}

/// The number of 32 bits that a step is.
fn narrow<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    step: IntValue<'ctx>,
) -> std::result::Result<IntValue<'ctx>, BuilderError> {
    let extended = step.as_instruction_value().filter(|from| from.get_opcode() == Op::ZExt);
    let inner =
        extended.and_then(|from| llvm::int_operand(from, 0)).filter(|inner| inner.get_type().get_bit_width() == 32);
    inner.map_or_else(|| builder.build_int_truncate(step, context.i32_type(), ""), Ok)
}

struct Member<'ctx> {
    gep: InstructionValue<'ctx>,
    /// How many steps, and how many bytes, it is behind what all of the group have in common.
    steps: i64,
    bytes: i64,
}

/// Addresses that differ by steps and bytes.
struct Group<'ctx> {
    step: IntValue<'ctx>,
    /// Steps that they grow by in a round.
    growth: i64,
    rest: Sum<'ctx>,
    members: Vec<Member<'ctx>>,
}

impl<'ctx> Group<'ctx> {
    fn first(&self) -> i64 {
        self.members.iter().map(|member| member.steps).min().unwrap_or(0)
    }

    /// How many steps each address is behind the one before; of one in a round, how many it goes on.
    fn unit(&self) -> Option<i64> {
        let first = self.first();
        let behind: Option<Vec<i64>> = self.members.iter().map(|member| member.steps.checked_sub(first)).collect();
        let behind = behind?;
        let unit = behind.iter().copied().fold(self.growth, greatest_divisor);
        let last = behind.into_iter().max()?;
        (last <= self.growth && self.growth / unit <= MOST_ADDRESSES).then_some(unit)
    }

    /// Whether all of its addresses in a round are the same, but for bytes; not counting where the next round's are.
    fn is_alone(&self) -> bool {
        self.members.iter().all(|member| [0, self.growth].contains(&(member.steps - self.first())))
    }

    /// Has where the rest of a loop goes on be a step behind where a round begins, if the addresses grow by a constant.
    fn lead(&mut self) {
        if !self.step.is_const() {
            return;
        }
        let accessed = self.members.iter().filter(|member| is_accessed(member.gep)).map(|member| member.bytes);
        let Some(first) = accessed.min() else { return };
        for member in &mut self.members {
            if member.bytes.checked_sub(first) == Some(self.growth) && leads(member.gep) {
                (member.steps, member.bytes) = (self.growth, first);
            }
        }
    }

    /// Whether the addresses grow by a constant and lead on to those of the loop's rest. The code generator computes several of them
    /// as sums of a counter and where each begins, which takes more registers, in both loops.
    fn leads_on(&self) -> bool {
        self.step.is_const() && self.members.iter().any(|member| member.steps == self.growth)
    }

    /// Whether a round has so many addresses, all of this group, that a twin of the loop is worth it.
    fn is_long(&self) -> bool {
        let first = self.first();
        let is_there = |steps: i64| self.members.iter().any(|member| member.steps - first == steps);
        self.unit().is_some_and(|unit| {
            let addresses = self.growth / unit;
            addresses >= FEWEST_ADDRESSES && (0..addresses).all(|at| is_there(at * unit))
        })
    }

    /// Writes the addresses; `number` is the step in 32 bits, if it is not itself extended from such a number.
    fn write(&self, place: &Place<'_, 'ctx>, number: Option<IntValue<'ctx>>) -> std::result::Result<(), BuilderError> {
        let Place { context, before, latch, found } = *place;
        let first = self.first();
        let (Some(unit), Some(end), Some(jump), Some(begin)) = (
            self.unit(),
            before.get_terminator(),
            latch.get_terminator(),
            self.members.iter().find(|member| member.steps == first),
        ) else {
            return Ok(());
        };
        if number.is_none() && !is_narrow(self.step) {
            return Ok(());
        }
        let builder = context.create_builder();
        builder.position_before(&end);
        let mut known = HashMap::new();
        let Some(start) = at_first(&builder, found, llvm::result(begin.gep), &mut known) else { return Ok(()) };
        let inner = number.map_or_else(|| narrow(context, &builder, self.step), Ok)?;

        let Some(top) = found.head.get_first_instruction() else { return Ok(()) };
        builder.position_before(&top);
        let phi = builder.build_phi(start.get_type(), "")?;
        let Some(after) = found.head.get_instructions().find(|from| from.get_opcode() != Op::Phi) else {
            return Ok(());
        };
        builder.position_before(&after);
        let step = hidden(context, &builder, inner, unit)?;
        let mut walked = vec![phi.as_basic_value().into_pointer_value()];
        for member in &self.members {
            builder.position_before(&member.gep);
            let at = usize::try_from((member.steps - first) / unit).expect("a group has few steps");
            go_to(context, &builder, &mut walked, at, step)?;
            let bytes = context.i64_type().const_int(member.bytes.wrapping_sub(begin.bytes).cast_unsigned(), true);
            let address = if member.bytes == begin.bytes {
                walked[at]
            } else {
                // SAFETY: an address that was computed otherwise.
                unsafe { builder.build_gep(context.i8_type(), walked[at], &[bytes], "")? }
            };
            llvm::replace_uses(member.gep, address.into());
        }
        builder.position_before(&jump);
        let last = usize::try_from(self.growth / unit).expect("a group has few steps");
        go_to(context, &builder, &mut walked, last, step)?;
        phi.add_incoming(&[(&start, before), (&walked[last], latch)]);
        Ok(())
    }
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// Writes addresses until there are so many steps.
fn go_to<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    walked: &mut Vec<PointerValue<'ctx>>,
    at: usize,
    step: IntValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    while walked.len() <= at {
        let last = walked[walked.len() - 1];
        // SAFETY: without `inbounds`, an address may be any.
        walked.push(unsafe { builder.build_gep(context.i8_type(), last, &[step], "")? });
    }
    Ok(())
}

/// So many times a number of 32 bits, which the code generator does not see.
fn hidden<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    number: IntValue<'ctx>,
    times: i64,
) -> std::result::Result<IntValue<'ctx>, BuilderError> {
    if let Some(constant) = number.get_zero_extended_constant() {
        let bytes = times.wrapping_mul(constant.cast_signed());
        return llvm::build_hidden(context, builder, context.i64_type().const_int(bytes.cast_unsigned(), true));
    }
    let number = llvm::build_hidden(context, builder, number)?;
    let wide = builder.build_int_z_extend(number, context.i64_type(), "")?;
    builder.build_int_mul(wide, context.i64_type().const_int(times.cast_unsigned(), false), "")
}

/// What a value is in the first round, written before the loop.
fn at_first<'ctx>(
    builder: &Builder<'ctx>,
    found: &Loop<'ctx>,
    value: BasicValueEnum<'ctx>,
    known: &mut HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>,
) -> Option<BasicValueEnum<'ctx>> {
    if found.is_invariant(value) {
        return Some(value);
    }
    if let Some((first, _)) = found.incoming(value) {
        return Some(first);
    }
    let from = llvm::instruction_of(value).filter(|from| llvm::is_pure(*from))?;
    if let Some(known) = known.get(&from) {
        return Some(*known);
    }
    let operands = llvm::value_operands(from)
        .map(|(index, operand)| Some((index, at_first(builder, found, operand, known)?)))
        .collect::<Option<Vec<_>>>()?;
    let copy = llvm::result(llvm::build_copy(builder, from, &operands));
    known.insert(from, copy);
    Some(copy)
}

#[cfg(test)]
#[path = "walks_tests.rs"]
mod tests;

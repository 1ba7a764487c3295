//! Runs two rounds at a time of a search that looks up what it reads.
//!
//! ```text
//! before: loop:   %p = phi ptr [ %first, %before ], [ %next, %look ]
//!                 br i1 (icmp eq ptr %p, %end), label %none, label %check
//!         check:  %i = load i32, ptr %p
//!                 br i1 (icmp ult i32 %i, %len), label %look, label %panic
//!         look:   %x = load i32, ptr (getelementptr i32, ptr %table, i32 %i)
//!                 br i1 (icmp eq i32 %x, %key), label %found, label %loop
//! after:  before: %last = (%end - %first) / 4 - 1                     ; the number of the last round
//!                 br i1 (icmp ult i64 %last, 2^31), label %checks, label %loop
//!         checks: %k = phi i32 [ 0, %before ], [ %k + 2, %more ]
//!                 two loads of %i, in rounds %k and min(%k + 1, %last); and the two comparisons
//!                 br i1 %both_hold, label %looks, label %loop
//!         looks:  two loads of %x
//!                 br i1 %none_is_found, label %more, label %found
//!         more:   br i1 (icmp ule i32 (%k + 2), %last), label %checks, label %none
//!         loop:   …                                      ; as it was, from round %k on
//! ```
//!
//! `neighbours.iter().any(|n| levels[*n] == level)`: whether there is a next round is known when the last one has loaded what it
//! looks up, so that each round waits for memory twice, in C++ as well. Two rounds together wait as long as one, and take
//! fewer instructions each. Behind the last round that one is run again: it costs less than a loop for the rest, which every
//! thread of a warp would have to wait for. More rounds at once load more that nobody asks for: in a graph where one
//! neighbour of four is found, a step of a breadth-first search took 21.3 µs on an H100 before, 19.0 with two rounds
//! at once, 19.7 with four, and 20.0 in CUDA C++.
//!
//! **Why it is right.** Two rounds do nothing that anyone could see, and a round that is run twice ends the loop no
//! sooner than one that is run once. Where a check fails, the loop as it was goes on from the first of the two: it
//! panics there with the same numbers, or finds something before. Where something is found by what a round asks last, what
//! leaves the loop is that of the first round that finds it; where it may panic behind, the loop as it was goes on. It may be that a round is run which the loop would not have reached, because one before it
//! finds something. What it loads is there all the same: it lies between the first and the last address, both of which are in
//! bounds of what a slice of the kernel's (`&[T]`) points into, or has an index that was compared with such a slice's length;
//! all of that may be read while the kernel runs. What is read then may mean nothing, and is frozen before it is branched on,
//! or used as an index.
//!
//! The addresses need no freezing: whether the first is the end is the first thing that the loop asks.
//!
//! Not where nothing is looked up by what was read: such loads wait for nothing, and are close to each other.

use std::collections::HashMap;

use crate::abi::Table;
use crate::diagnostic::Result;
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, PointerValue, Unroll,
};

use super::batches::{self, Slice, is_quiet};
use super::branches;
use super::natural::{Graph, Loop, SimpleForm};

/// Rounds that are run at once.
const ROUNDS: u64 = 2;

/// Rounds of a loop whose rounds are numbered in 32 bits, with room for some more.
const MOST_ROUNDS: u64 = 1 << 31;

/// Instructions of a loop's round.
const MOST_INSTRUCTIONS: usize = 40;

/// How deep a condition may be computed.
const MOST_STEPS: u32 = 8;

/// Runs the rounds of every kernel's searches together where that is possible.
pub fn gather<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>, table: &Table) -> Result<()> {
    batches::each_kernel(module, form, table, "several rounds of a search", |function, slices| {
        gather_function(context, form, function, slices)
    })
}

pub(super) fn gather_function<'ctx>(
    context: &'ctx Context,
    form: &SimpleForm<'_>,
    function: FunctionValue<'ctx>,
    slices: &[Slice<'ctx>],
) -> Result<(), BuilderError> {
    let graph = Graph::of(function);
    // Loops have no block in common, and what is written for one moves none of another.
    for found in graph.innermost() {
        let Some(before) = graph.block_before(&found) else { continue };
        let Some(search) = Search::of(context, &found, before, slices) else { continue };
        form.lose();
        let builder = context.create_builder();
        Stage { context, builder, function, search: &search, lens: HashMap::new() }.write()?;
    }
    Ok(())
}

/// A phi of the head that each round adds the same to.
#[derive(Clone, Copy)]
struct Counter<'ctx> {
    phi: InstructionValue<'ctx>,
    first: BasicValueEnum<'ctx>,
    step: i64,
}

/// An end of the loop.
struct Exit<'ctx> {
    block: BasicBlock<'ctx>,
    outside: BasicBlock<'ctx>,
    condition: IntValue<'ctx>,
    /// What the condition is where the loop goes on.
    goes_on: bool,
    /// The index that is compared, and the slice that it belongs to.
    index: Option<(IntValue<'ctx>, Slice<'ctx>)>,
    panics: bool,
}

/// What is known of a loop.
struct Search<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
    counters: Vec<Counter<'ctx>>,
    /// What the loop goes through, and from where to where.
    bound: Counter<'ctx>,
    way: Way<'ctx>,
    /// Where it goes when it has gone through all.
    none: BasicBlock<'ctx>,
    /// Ends in their order, without the first.
    exits: Vec<Exit<'ctx>>,
}

/// From where to where a loop goes, in rounds.
enum Way<'ctx> {
    /// A number that grows by one, until it is equal to another; or not below it, where `is_below`.
    Count { first: IntValue<'ctx>, end: IntValue<'ctx>, is_below: bool },
    /// An address in a slice, of which these are the sums of elements that lie before it.
    Walk { first: Vec<IntValue<'ctx>>, end: Vec<IntValue<'ctx>> },
}

impl<'a, 'ctx> Search<'a, 'ctx> {
    fn of(context: &Context, found: &'a Loop<'ctx>, before: BasicBlock<'ctx>, slices: &[Slice<'ctx>]) -> Option<Self> {
        let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
        let is_short = instructions().take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS;
        if !is_short || !instructions().all(is_quiet) || llvm::unroll_is_disabled(context, &found.jumps_back()) {
            return None;
        }
        let counters: Vec<Counter<'ctx>> =
            llvm::phis(found.head).map(|phi| Counter::of(found, phi)).collect::<Option<_>>()?;
        let mut exits = exits(found, slices)?;
        let first = exits.remove(0);
        let (bound, way) = way(found, &counters, &first, slices)?;
        let is_search = exits.iter().any(|exit| !exit.panics);
        let search = Self { found, before, counters, bound, way, none: first.outside, exits };
        let mut looks_up = false;
        for at in 0..search.exits.len() {
            let value = search.exits[at].condition.into();
            if !search.can_be_early(value, at, MOST_STEPS, &mut looks_up) {
                return None;
            }
        }
        let ends = llvm::phis(search.none).all(|phi| search.at_end(from_block(phi, found.head)).is_some());
        (is_search && looks_up && ends).then_some(search)
    }

    /// The counter that a value which leaves the loop where all is gone through is; none if it is the same in all rounds.
    fn at_end(&self, value: BasicValueEnum<'ctx>) -> Option<Option<Counter<'ctx>>> {
        if self.found.is_invariant(value) {
            return Some(None);
        }
        let from = value.as_instruction_value()?;
        self.counters.iter().find(|counter| counter.phi == from).map(|counter| Some(*counter))
    }

    /// The only end where something is found, if all that leaves the loop there is known of every round.
    fn found_at(&self) -> Option<usize> {
        let mut ends = (0..self.exits.len()).filter(|at| !self.exits[*at].panics);
        let (Some(at), None) = (ends.next(), ends.next()) else { return None };
        let exit = &self.exits[at];
        let is_known = |phi| self.can_be_early(from_block(phi, exit.block), at, MOST_STEPS, &mut false);
        llvm::phis(exit.outside).all(is_known).then_some(at)
    }

    /// Whether a value can be computed in a round that is not known to be reached, behind all ends before one.
    fn can_be_early(&self, value: BasicValueEnum<'ctx>, exit: usize, steps: u32, looks_up: &mut bool) -> bool {
        if self.found.is_invariant(value) {
            return true;
        }
        let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
        if from.get_opcode() == Op::Phi {
            return self.counters.iter().any(|counter| counter.phi == from);
        }
        if llvm::is_plain_load(from) {
            if self.is_walk(from) {
                return true;
            }
            let Some(index) = self.checked_index(from, exit) else { return false };
            *looks_up |= self.is_read(index.into(), MOST_STEPS);
            return self.can_be_early(index.into(), exit, steps - 1, looks_up);
        }
        llvm::is_pure(from)
            && llvm::value_operands(from).all(|(_, operand)| self.can_be_early(operand, exit, steps - 1, looks_up))
    }

    /// Whether a load is from the address that the loop goes through a slice by.
    fn is_walk(&self, load: InstructionValue<'ctx>) -> bool {
        let address = load.get_operand(0).and_then(|address| address.value()?.as_instruction_value());
        let width = width(load);
        matches!(self.way, Way::Walk { .. })
            && address == Some(self.bound.phi)
            && width.zip(u64::try_from(self.bound.step).ok()).is_some_and(|(width, step)| width <= step)
    }

    /// The index of the element of a slice that is loaded, if it was compared with the slice's length before an end.
    fn checked_index(&self, load: InstructionValue<'ctx>, exit: usize) -> Option<IntValue<'ctx>> {
        let address = load.get_operand(0)?.value()?.as_instruction_value()?;
        let (base, size, index) = llvm::element_of(address)?;
        let is_checked = |exit: &Exit<'ctx>| {
            exit.index.is_some_and(|(checked, slice)| {
                checked == index && slice.pointer == base && slice.size == size && slice.size > 0
            })
        };
        let fits = width(load)? <= size;
        (fits && self.exits[..exit].iter().any(is_checked)).then_some(index)
    }

    /// Whether a value depends on what the loop loads.
    fn is_read(&self, value: BasicValueEnum<'ctx>, steps: u32) -> bool {
        let from = value.as_instruction_value().filter(|_| steps > 0 && !self.found.is_invariant(value));
        from.is_some_and(|from| {
            let mut operands = llvm::value_operands(from);
            from.get_opcode() == Op::Load
                || from.get_opcode() != Op::Phi && operands.any(|(_, operand)| self.is_read(operand, steps - 1))
        })
    }
}

impl<'ctx> Counter<'ctx> {
    fn of(found: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> Option<Self> {
        let (first, next) = found.incoming(llvm::result(phi))?;
        let sum = next.as_instruction_value()?;
        if sum.get_operand(0)?.value()? != llvm::result(phi) {
            return None;
        }
        let step = match sum.get_opcode() {
            Op::Add => llvm::int_operand(sum, 1)?.get_sign_extended_constant()?,
            Op::GetElementPtr => {
                let (_, size, index) = llvm::element_of(sum)?;
                index.get_sign_extended_constant()?.checked_mul(i64::try_from(size).ok()?)?
            }
            _ => return None,
        };
        Some(Self { phi, first, step })
    }
}

/// The ends of a loop whose blocks follow each other, in their order.
fn exits<'ctx>(found: &Loop<'ctx>, slices: &[Slice<'ctx>]) -> Option<Vec<Exit<'ctx>>> {
    let [latch] = found.latches[..] else { return None };
    let (mut block, mut exits, mut seen) = (found.head, Vec::new(), 1);
    loop {
        let end = block.get_terminator().filter(|end| end.get_opcode() == Op::Br)?;
        let next = match llvm::branch_targets(end) {
            Some((then, other)) => {
                let goes_on = found.contains(then);
                let (inside, outside) = if goes_on { (then, other) } else { (other, then) };
                if found.contains(outside) || !found.contains(inside) {
                    return None;
                }
                exits.push(Exit::of(found, end, goes_on, outside, slices)?);
                inside
            }
            None => *llvm::block_operands(end).first()?,
        };
        if block == latch {
            return (next == found.head && seen == found.blocks.len() && !exits.is_empty()).then_some(exits);
        }
        if next == found.head || llvm::predecessors(next) != [block] {
            return None;
        }
        (block, seen) = (next, seen + 1);
    }
}

impl<'ctx> Exit<'ctx> {
    fn of(
        found: &Loop<'ctx>,
        end: InstructionValue<'ctx>,
        goes_on: bool,
        outside: BasicBlock<'ctx>,
        slices: &[Slice<'ctx>],
    ) -> Option<Self> {
        let condition = llvm::int_operand(end, 0)?;
        let panics = branches::panics(outside);
        let index = below(condition, goes_on).filter(|(index, _)| !found.is_invariant((*index).into()));
        let index = index.and_then(|(index, len)| {
            let slice = slices.iter().find(|slice| slice.len == len)?;
            Some((index, *slice))
        });
        Some(Self { block: end.get_parent()?, outside, condition, goes_on, index, panics })
    }
}

/// What must be below what for a condition to be as it is where the loop goes on.
fn below(condition: IntValue<'_>, goes_on: bool) -> Option<(IntValue<'_>, IntValue<'_>)> {
    let compare = condition.as_instruction_value()?;
    let (left, right) = (llvm::int_operand(compare, 0)?, llvm::int_operand(compare, 1)?);
    match (compare.get_icmp_predicate()?, goes_on) {
        (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => Some((left, right)),
        (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => Some((right, left)),
        _ => None,
    }
}

/// What the first end asks: a counter that grows, and from where to where it goes.
fn way<'ctx>(
    found: &Loop<'ctx>,
    counters: &[Counter<'ctx>],
    exit: &Exit<'ctx>,
    slices: &[Slice<'ctx>],
) -> Option<(Counter<'ctx>, Way<'ctx>)> {
    let compare = exit.condition.as_instruction_value()?;
    let operand = |index| compare.get_operand(index)?.value();
    let (value, end, is_below) = match (compare.get_icmp_predicate()?, exit.goes_on) {
        (IntPredicate::EQ, false) | (IntPredicate::NE, true) => {
            let (left, right) = (operand(0)?, operand(1)?);
            if found.is_invariant(left) { (right, left, false) } else { (left, right, false) }
        }
        _ => {
            let (value, end) = below(exit.condition, exit.goes_on)?;
            (value.into(), end.into(), true)
        }
    };
    let phi = value.as_instruction_value().filter(|_| found.is_invariant(end))?;
    let counter = *counters.iter().find(|counter| counter.phi == phi)?;
    let way = match (counter.first, end) {
        (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(end))
            if counter.step == 1 && first.get_type().get_bit_width() >= 32 =>
        {
            Way::Count { first, end, is_below }
        }
        // Addresses are compared by their order only where they are in one thing.
        (BasicValueEnum::PointerValue(first), BasicValueEnum::PointerValue(end)) if !is_below => {
            let step = u64::try_from(counter.step).ok()?;
            let (root, first) = elements_before(first, step)?;
            let (other, end) = elements_before(end, step)?;
            let is_slice = root == other && slices.iter().any(|slice| slice.pointer == root && slice.size == step);
            is_slice.then_some(Way::Walk { first, end })?
        }
        _ => return None,
    };
    Some((counter, way))
}

/// What an address is computed from, in bounds, and how many elements of a size lie between.
fn elements_before(address: PointerValue<'_>, size: u64) -> Option<(PointerValue<'_>, Vec<IntValue<'_>>)> {
    let (mut root, mut numbers) = (address, Vec::new());
    while let Some(from) = root.as_instruction_value() {
        let (base, of, number) = llvm::element_of(from).filter(|_| llvm::is_in_bounds(from))?;
        if of != size || number.get_type().get_bit_width() != 64 {
            return None;
        }
        numbers.push(number);
        root = base;
    }
    Some((root, numbers))
}

/// How many bytes are loaded.
fn width(load: InstructionValue<'_>) -> Option<u64> {
    Some(llvm::type_align(BasicTypeEnum::try_from(load.get_type()).ok()?).0)
}

struct Stage<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    search: &'a Search<'a, 'ctx>,
    /// Lengths that indices are compared with, each frozen once: what is asked before the loop holds in it.
    lens: HashMap<IntValue<'ctx>, IntValue<'ctx>>,
}

/// What a round's instructions compute, in one of the rounds that are run at once.
type Values<'ctx> = HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>;

/// An index that has 32 bits, before it is extended.
fn narrow(index: IntValue<'_>) -> Option<IntValue<'_>> {
    let from = index.as_instruction_value().filter(|from| from.get_opcode() == Op::ZExt)?;
    llvm::int_operand(from, 0).filter(|number| number.get_type().get_bit_width() == 32)
}

impl<'ctx> Stage<'_, 'ctx> {
    fn write(mut self) -> Result<(), BuilderError> {
        let Some(end) = self.search.before.get_terminator() else { return Ok(()) };
        self.builder.position_before(&end);
        for (_, slice) in self.search.exits.iter().filter_map(|exit| exit.index) {
            self.lens.entry(slice.len).or_insert_with(|| llvm::build_freeze(&self.builder, slice.len));
        }
        let Self { context, builder, function, search, .. } = &self;
        let number = |value| context.i32_type().const_int(value, false);
        let new = || context.append_basic_block(*function, "");
        let blocks: Vec<BasicBlock<'ctx>> = search.exits.iter().map(|_| new()).collect();
        let (more, again) = (new(), new());

        let (are_few, last) = self.last()?;
        builder.build_conditional_branch(are_few, blocks[0], search.found.head)?;
        end.erase_from_basic_block();

        builder.position_at_end(blocks[0]);
        let begin = builder.build_phi(context.i32_type(), "")?;
        begin.add_incoming(&[(&number(0), search.before)]);
        let now = begin.as_basic_value().into_int_value();
        let mut rounds = vec![self.begin(now)?];
        for round in 1..ROUNDS {
            let at = builder.build_int_add(now, number(round), "")?;
            let is_there = builder.build_int_compare(IntPredicate::ULT, at, last, "")?;
            rounds.push(self.begin(builder.build_select(is_there, at, last, "")?.into_int_value())?);
        }
        self.write_ends(&blocks, &mut rounds, more, again)?;

        builder.position_at_end(more);
        let next = builder.build_int_add(now, number(ROUNDS), "")?;
        let are_left = builder.build_int_compare(IntPredicate::ULE, next, last, "")?;
        let jump = builder.build_conditional_branch(are_left, blocks[0], self.write_none(last)?)?;
        begin.add_incoming(&[(&next, more)]);
        llvm::set_unroll(context, &[jump], Unroll::None);

        builder.position_at_end(again);
        let values = self.begin(now)?;
        builder.build_unconditional_branch(search.found.head)?;
        for counter in &search.counters {
            llvm::add_incoming(counter.phi, values[&counter.phi], again);
        }
        // It runs from a few rounds before its end.
        llvm::set_unroll(context, &search.found.jumps_back(), Unroll::None);
        Ok(())
    }

    /// Whether rounds can be run at once, and the number of the last one.
    fn last(&self) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
        let Self { context, builder, search, .. } = self;
        let word = context.i64_type();
        let mut conditions = Vec::new();
        let (first, end) = match &search.way {
            Way::Count { first, end, is_below } => {
                if *is_below {
                    conditions.push(builder.build_int_compare(IntPredicate::ULT, *first, *end, "")?);
                }
                (*first, *end)
            }
            Way::Walk { first, end } => {
                let add = |sum: IntValue<'ctx>, number: &IntValue<'ctx>| builder.build_int_add(sum, *number, "");
                let sum = |numbers: &[IntValue<'ctx>]| numbers.iter().try_fold(word.const_zero(), add);
                (sum(first)?, sum(end)?)
            }
        };
        let all = builder.build_int_sub(end, first, "")?;
        let last = builder.build_int_sub(all, all.get_type().const_int(1, false), "")?;
        let few = last.get_type().const_int(MOST_ROUNDS, false);
        conditions.push(builder.build_int_compare(IntPredicate::ULT, last, few, "")?);
        for exit in &search.exits {
            if let Some((index, slice)) = exit.index.filter(|(index, _)| narrow(*index).is_some()) {
                let len = self.lens[&slice.len];
                let limit = index.get_type().const_int(1 << 32, false);
                conditions.push(builder.build_int_compare(IntPredicate::ULT, len, limit, "")?);
            }
        }
        let last = builder.build_int_truncate_or_bit_cast(last, context.i32_type(), "")?;
        Ok((self.all(&conditions)?, last))
    }

    fn all(&self, conditions: &[IntValue<'ctx>]) -> Result<IntValue<'ctx>, BuilderError> {
        let (first, others) = conditions.split_first().expect("there is a condition");
        others.iter().try_fold(*first, |all, one| self.builder.build_and(all, *one, ""))
    }

    /// What the counters are in a round, of which the number is given.
    fn begin(&self, round: IntValue<'ctx>) -> Result<Values<'ctx>, BuilderError> {
        let Self { context, builder, search, .. } = self;
        let mut values = HashMap::new();
        for counter in &search.counters {
            let step = counter.step.cast_unsigned();
            let value = match counter.first {
                BasicValueEnum::PointerValue(first) => {
                    let wide = builder.build_int_z_extend(round, context.i64_type(), "")?;
                    let growth = builder.build_int_mul(wide, wide.get_type().const_int(step, true), "")?;
                    llvm::build_byte_offset(context, builder, first, growth)?.into()
                }
                first => {
                    let first = first.into_int_value();
                    let round = builder.build_int_cast_sign_flag(round, first.get_type(), false, "")?;
                    let growth = builder.build_int_mul(round, round.get_type().const_int(step, true), "")?;
                    builder.build_int_add(first, growth, "")?.into()
                }
            };
            values.insert(counter.phi, value);
        }
        Ok(values)
    }

    /// Writes the ends of the rounds, each in its block.
    fn write_ends(
        &self,
        blocks: &[BasicBlock<'ctx>],
        rounds: &mut [Values<'ctx>],
        more: BasicBlock<'ctx>,
        again: BasicBlock<'ctx>,
    ) -> Result<(), BuilderError> {
        let found = self.search.found_at();
        for (at, exit) in self.search.exits.iter().enumerate() {
            self.builder.position_at_end(blocks[at]);
            let mut go_on = Vec::new();
            for values in &mut *rounds {
                go_on.push(self.goes_on(exit, values)?);
            }
            let all = self.all(&go_on)?;
            // A round before may still panic at a later end.
            let is_last = at + 1 == self.search.exits.len();
            let other = match found == Some(at) && is_last {
                true => self.write_found(exit, rounds, &go_on, blocks[at])?,
                false => again,
            };
            self.builder.position_at_end(blocks[at]);
            self.builder.build_conditional_branch(all, blocks.get(at + 1).copied().unwrap_or(more), other)?;
        }
        Ok(())
    }

    /// Whether the loop goes on at an end in a round.
    fn goes_on(&self, exit: &Exit<'ctx>, values: &mut Values<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let builder = &self.builder;
        let Some((index, slice)) = exit.index else {
            let condition = self.early(values, exit.condition.into())?.into_int_value();
            let condition = llvm::build_freeze(builder, condition);
            return if exit.goes_on { Ok(condition) } else { builder.build_not(condition, "") };
        };
        // Whatever the index is computed from, it is a number from here on, and the same wherever it is used.
        let from = index.as_instruction_value().expect("an index that is the same in all rounds is no end of a search");
        let Some(number) = narrow(index) else {
            let frozen = llvm::build_freeze(builder, self.early(values, index.into())?.into_int_value());
            values.insert(from, frozen.into());
            return builder.build_int_compare(IntPredicate::ULT, frozen, self.lens[&slice.len], "");
        };
        let frozen = llvm::build_freeze(builder, self.early(values, number.into())?.into_int_value());
        values.extend(number.as_instruction_value().map(|number| (number, frozen.into())));
        values.insert(from, builder.build_int_z_extend(frozen, index.get_type(), "")?.into());
        let len = builder.build_int_truncate(self.lens[&slice.len], frozen.get_type(), "")?;
        builder.build_int_compare(IntPredicate::ULT, frozen, len, "")
    }

    /// Writes how the loop is left where one of the rounds finds something.
    fn write_found(
        &self,
        exit: &Exit<'ctx>,
        rounds: &mut [Values<'ctx>],
        go_on: &[IntValue<'ctx>],
        from: BasicBlock<'ctx>,
    ) -> Result<BasicBlock<'ctx>, BuilderError> {
        let Self { context, builder, function, .. } = self;
        let block = context.append_basic_block(*function, "");
        for phi in llvm::phis(exit.outside).collect::<Vec<_>>() {
            let value = from_block(phi, exit.block);
            builder.position_at_end(from);
            let mut chosen: Option<BasicValueEnum<'ctx>> = None;
            for (values, goes_on) in rounds.iter_mut().zip(go_on).rev() {
                let value = self.early(values, value)?;
                chosen = Some(match chosen {
                    Some(later) if later != value => builder.build_select(*goes_on, later, value, "")?,
                    _ => value,
                });
            }
            llvm::add_incoming(phi, chosen.expect("there are rounds"), block);
        }
        builder.position_at_end(block);
        builder.build_unconditional_branch(exit.outside)?;
        Ok(block)
    }

    /// Writes how the loop is left where all is gone through.
    fn write_none(&self, last: IntValue<'ctx>) -> Result<BasicBlock<'ctx>, BuilderError> {
        let Self { context, builder, function, search, .. } = self;
        let Some(from) = builder.get_insert_block() else { return Ok(search.none) };
        let block = context.append_basic_block(*function, "");
        builder.position_at_end(block);
        let all = builder.build_int_add(last, last.get_type().const_int(1, false), "")?;
        let values = self.begin(all)?;
        builder.build_unconditional_branch(search.none)?;
        for phi in llvm::phis(search.none).collect::<Vec<_>>() {
            let value = from_block(phi, search.found.head);
            let counter = search.at_end(value).expect("`of` has asked");
            llvm::add_incoming(phi, counter.map_or(value, |counter| values[&counter.phi]), block);
        }
        builder.position_at_end(from);
        Ok(block)
    }

    /// Computes a value of a round, with what is known of it.
    fn early(
        &self,
        values: &mut Values<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let Some(from) = value.as_instruction_value().filter(|_| !self.search.found.is_invariant(value)) else {
            return Ok(value);
        };
        if let Some(known) = values.get(&from) {
            return Ok(*known);
        }
        let mut operands = Vec::new();
        if let Some(address) = self.element(values, from)? {
            operands.push((0, address.into()));
        } else {
            for (index, operand) in llvm::value_operands(from) {
                operands.push((index, self.early(values, operand)?));
            }
        }
        let copy = llvm::build_copy(&self.builder, from, &operands);
        if copy.get_opcode() == Op::Load {
            llvm::forget_number(copy);
        }
        values.insert(from, llvm::result(copy));
        Ok(llvm::result(copy))
    }

    /// The address of what is loaded by an index, in a round.
    fn element(
        &self,
        values: &mut Values<'ctx>,
        load: InstructionValue<'ctx>,
    ) -> Result<Option<PointerValue<'ctx>>, BuilderError> {
        if load.get_opcode() != Op::Load || self.search.is_walk(load) {
            return Ok(None);
        }
        let address = load.get_operand(0).and_then(|address| address.value()?.as_instruction_value());
        let (base, size, index) = address.and_then(llvm::element_of).expect("`can_be_early` saw an element");
        // The frozen one, which was compared.
        let index = self.early(values, index.into())?.into_int_value();
        let offset = self.builder.build_int_mul(index, index.get_type().const_int(size, false), "")?;
        llvm::build_byte_offset(self.context, &self.builder, base, offset).map(Some)
    }
}

/// What a phi is if control comes from a block that jumps to its own.
fn from_block<'ctx>(phi: InstructionValue<'ctx>, block: BasicBlock<'ctx>) -> BasicValueEnum<'ctx> {
    llvm::incoming_from(phi, block).expect("a phi has a value for every block that jumps to it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::loops::natural;
    use crate::request::OptLevel;

    /// A search through `%edges` from `%start` to `%end`, after the stage; `check` goes on at `%look`.
    fn gathered(ends: &str, check: &str, look: &str, found: &str) -> String {
        let next = "%next = getelementptr inbounds i8, ptr %p, i64 4\n %k.next = add i32 %k, 1";
        let look = match look.rsplit_once("last:") {
            Some((asks, _)) => format!("{asks} last: {next}\n br label %loop"),
            None => format!(
                "{look}\n %is.found = icmp eq i32 %x, %key\n {next}\n br i1 %is.found, label %found, label %loop"
            ),
        };
        let latch = if look.contains("last:") { "%last.of" } else { "%look" };
        let look = look.replace("last:", "last.of:").replace("label %last,", "label %last.of,");
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare void @__rust_ptx_panic_with_1(i64) noreturn
            define i32 @f(ptr %edges, i64 %edges.len, ptr %levels, i64 %levels.len, i32 %key, i64 %start, i64 %end) {{
            entry: %first = getelementptr inbounds i32, ptr %edges, i64 %start
              {ends}
              br label %loop
            loop:
              %p = phi ptr [ %first, %entry ], [ %next, {latch} ]
              %k = phi i32 [ 0, %entry ], [ %k.next, {latch} ]
              %is.end = icmp eq ptr %p, %last
              br i1 %is.end, label %none, label %check
            check:
              %n = load i32, ptr %p, !noundef !0
              %i = zext i32 %n to i64
              {check}
            look:
              %at = getelementptr inbounds i32, ptr %levels, i64 %i
              %x = load i32, ptr %at
              {look}
            found: ret i32 {found}
            none: ret i32 %k
            panic:
              call void @__rust_ptx_panic_with_1(i64 %i)
              unreachable
            }}
            !0 = !{{}}"
        );
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        natural::simplify(&module, &machine).unwrap();
        let function = module.get_function("f").unwrap();
        let slice = |index| {
            let param = |index| function.get_nth_param(index).unwrap();
            let (pointer, len) = (param(index).into_pointer_value(), param(index + 1).into_int_value());
            Slice { function, pointer, len, size: 4 }
        };
        gather_function(&context, &SimpleForm::of(&machine), function, &[slice(0), slice(2)]).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const IN_BOUNDS: &str = "%last = getelementptr inbounds i32, ptr %edges, i64 %end";
    const BELOW: &str = "%below = icmp ult i64 %i, %levels.len\n br i1 %below, label %look, label %panic";

    #[test]
    fn two_rounds_are_looked_up_at_once() {
        let ir = gathered(IN_BOUNDS, BELOW, "", "%key");
        let blocks: Vec<_> = ir.split("\n\n").filter(|block| block.matches("load i32").count() == 2).collect();
        let [checks, looks] = blocks[..] else { panic!("{ir}") };
        assert_eq!(checks.matches("freeze i32").count(), 2, "{ir}");
        assert!(!checks.contains("!noundef") && ir.contains("!noundef"), "the round may not be reached: {ir}");
        assert_eq!(checks.matches("icmp ult i32").count(), 1 + 2, "of the last round, and of the slice: {ir}");
        assert_eq!(looks.matches("freeze i1").count(), 2, "{ir}");
        // Rounds of 32 bits, in a slice that has so many elements.
        let before = ir.split("\n\n").next().unwrap_or_default();
        assert!(before.contains("2147483648") && before.contains("4294967296"), "{before}");
        assert_eq!(ir.matches("call void @__rust_ptx_panic_with_1").count(), 1, "{ir}");
        assert!(!ir.contains("select i1 %is"), "nothing leaves that differs by rounds: {ir}");
    }

    #[test]
    fn a_round_before_what_is_found_may_panic() {
        let ir = gathered(IN_BOUNDS, BELOW, "", "%k");
        assert!(ir.contains("phi i32 [ %k, %look ], ["), "{ir}");
        let looks = "%is.found = icmp eq i32 %x, %key\n br i1 %is.found, label %found, label %else
            else: %fine = icmp ult i32 %x, 1000\n br i1 %fine, label %last, label %panic\n last:";
        let ir = gathered(IN_BOUNDS, BELOW, looks, "%k");
        // It is found by the loop as it was alone.
        assert!(ir.matches("load i32").count() > 2 && !ir.contains("phi i32 [ %k, %look ], ["), "{ir}");
    }

    #[test]
    fn what_the_first_round_finds_leaves() {
        for (found, selections) in [("%k", 1), ("%n", 1), ("%x", 1), ("7", 0)] {
            let ir = gathered(IN_BOUNDS, BELOW, "", found);
            let looks = ir.split("\n\n").filter(|block| block.matches("load i32").count() == 2).nth(1).expect(&ir);
            assert_eq!(looks.matches("= select i1").count(), selections, "{found}: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        let unchecked = "br label %look";
        let of_other = "%below = icmp ult i64 %i, %edges.len\n br i1 %below, label %look, label %panic";
        for (ends, check, look) in [
            // It is not known where the way ends, nor that what lies between is there.
            ("%last = getelementptr i32, ptr %edges, i64 %end", BELOW, ""),
            ("%last = getelementptr inbounds i32, ptr %levels, i64 %end", BELOW, ""),
            ("%last = getelementptr inbounds i16, ptr %edges, i64 %end", BELOW, ""),
            (IN_BOUNDS, unchecked, ""),
            (IN_BOUNDS, of_other, ""),
            // Others would see a round that is run too early.
            (IN_BOUNDS, BELOW, "store i32 %k, ptr %at"),
            (IN_BOUNDS, BELOW, "%v = load volatile i32, ptr %at"),
        ] {
            let ir = gathered(ends, check, look, "%k");
            assert_eq!(ir.matches("= load i32").count(), 2, "{ends}, {check}, {look}: {ir}");
        }
    }
}

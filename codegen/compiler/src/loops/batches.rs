//! Runs eight or four rounds at a time of a loop whose checks look at what it loads.
//!
//! ```text
//! before: loop: %k = phi i64 [ 0, %before ], [ %next, %inside ]
//!               %column = load i32, ptr (getelementptr i32, ptr %columns, i64 %k)
//!               br i1 (icmp ult i32 %column, %len), label %inside, label %panic
//!         inside:  %x = load …, %column …                 ; nothing that others could see
//!               br i1 (icmp ult i64 %next, %n), label %loop, label %end
//! after:  before:  br i1 (%n ≥ 4, and columns[%k] is inside of its slice in every round), label %batch, label %loop
//!         batch:   four loads of `%column`, and the four comparisons
//!                  br i1 %all_hold, label %body, label %loop
//!         body:    %x of four rounds, and the rest of each, in their order
//!                  br i1 (four more rounds are left), label %batch, label %rest
//!         rest:    br i1 (none is left), label %end, label %loop
//!         loop:    …                                      ; as it was, from where it stands
//! ```
//!
//! `x[columns[k]]` of a sparse matrix is checked in every round, and what is compared comes from memory, so that no test before
//! the loop shows that no check fails, and neither LLVM nor ptxas unrolls a loop that has two ends: each round waited for its
//! load, and then for the next. Here four rounds wait together, as in the code that nvcc makes of a loop without checks: on an
//! H200 a sparse matrix times a vector took 523 µs before, 289 with this, and 284 in CUDA C++.
//!
//! What the comparisons need is loaded before it is known that its round is reached. That does no harm where the address
//! is one of a shared slice that the kernel was given (`&[T]`): all of it may be read, by anyone, while the kernel runs. The
//! test before the loop makes sure of that for all rounds that the loop would make; with `b` for how often it jumps back, an
//! offset that begins at `o` and grows by `s` bytes a round is `o + b × s` at last, which must not overflow, and must leave
//! room for what is loaded; `s` may be known only then, as the width of a matrix that is read column by column. Anything else
//! is loaded behind the checks of all four rounds, as it was behind its own.
//!
//! Where one of the four checks fails, none of the four rounds has done anything that could be seen, and the loop as it was
//! runs from the first of them: it panics in the same round, with the same numbers. The conditions are joined by `select`,
//! which does not look at the second where the first fails, because there it may mean nothing. What goes into the test before
//! the loop is frozen, as in [`super::checks`]. The rounds compute what they did, in the same order, so that sums of floats
//! have the same bits.
//!
//! Where a round loads little, eight rounds are run at a time while there are as many, and then four once. On an H100 the
//! product took 360 µs with four alone, 343 with eight alone, 334 with both, and 340 in CUDA C++, which runs sixteen.
//!
//! A loop that is seen to do something, by a store or an atomic operation, has what is seen in the order in which it was, and
//! four rounds at a time. Then only loads of what LLVM, too, knows to be constant (`noalias readonly`) go before it: so no store
//! can change what they read. A frontier of a graph, `for e in edges { dist[cols[e]].fetch_min(level, Relaxed) }`, took
//! 41.6 µs on an H100 before, 33.8 with this, and 34.0 in CUDA C++.
//!
//! A check may also look at what the rounds before have made of what they loaded, if nothing is seen of a round: `max_by(|a, b|
//! a.partial_cmp(b).unwrap())` fails where the largest number so far is compared with one that is none. What is computed
//! behind a check that fails is thrown away.
//!
//! A round may have branches of its own that come together again, `if seen[v] & bit == 0 { next[v].fetch_or(bit, Relaxed); }`.
//! A check in such an arm is asked for as if it were always reached, and what the other blocks look up by what was loaded is
//! loaded for all four rounds before the first branch: ptxas moves no load across one. If a check does not hold that would
//! not have been reached, the loop as it was runs on, and does not panic.
//!
//! Not with anything convergent or volatile in the loop, or that is called.

use std::collections::HashMap;

use ptx_abi::{Access, Class};

use crate::abi::{FunctionAbi, Table};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode, InstructionValue, IntPredicate, IntValue, Module, PointerValue, Unroll,
};
use crate::settled;

use super::addresses;
use super::arms::{Arm, Check, onwards};
use super::checks::{Emit, Shape};
use super::natural::{Graph, Loop, SimpleForm};

/// Rounds that are run at once, as LLVM and nvcc unroll.
const ROUNDS: u64 = 4;

/// Twice as many, where that are not more loads than [`MOST_AT_ONCE`]; then four of the rest.
const MANY_ROUNDS: u64 = 8;

/// Loads that are under way together: each keeps a register.
const MOST_AT_ONCE: u64 = 24;

/// Instructions of a loop's round.
const MOST_INSTRUCTIONS: usize = 40;

/// Loads of a round that are made early: each takes registers in four rounds.
const MOST_LOADS: usize = 3;

/// How deep a condition, or an index, may be computed.
const MOST_STEPS: u32 = 12;

/// Batches the rounds of every kernel's loops where that is possible.
pub fn batch<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>, table: &Table) -> Result<()> {
    each_kernel(module, form, table, "several rounds of a loop", |function, slices| {
        batch_function(context, module, form, function, slices)
    })
}

/// Works on every kernel that has loops and is not settled, with what it may read; `what` cannot be run at once if that fails.
pub(super) fn each_kernel<'ctx>(
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
    table: &Table,
    what: &str,
    work: impl Fn(FunctionValue<'ctx>, &[Slice<'ctx>]) -> Result<(), BuilderError>,
) -> Result<()> {
    form.give(module)?;
    for kernel in &table.kernels {
        let function = module
            .get_function(&kernel.name)
            .filter(|function| function.count_basic_blocks() > 1 && !settled::is_settled(*function));
        let Some(function) = function else { continue };
        work(function, &shared_slices(kernel, function))
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot run {what} at once: {error}")))?;
    }
    Ok(())
}

pub(super) fn batch_function<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    form: &SimpleForm<'_>,
    function: FunctionValue<'ctx>,
    slices: &[Slice<'ctx>],
) -> Result<(), BuilderError> {
    for found in Graph::of(function).innermost() {
        let Some(shape) = Shape::of_any(function, &found) else { continue };
        let Some(round) = Round::of(context, &found, &shape, slices) else { continue };
        form.lose();
        let emit = Emit { context, module, builder: context.create_builder(), shape: &shape };
        Stage { emit, function, round: &round }.write()?;
    }
    Ok(())
}

/// A kernel's parameter that all may read and nobody writes.
#[derive(Clone, Copy)]
pub struct Slice<'ctx> {
    pub function: FunctionValue<'ctx>,
    pub pointer: PointerValue<'ctx>,
    pub len: IntValue<'ctx>,
    /// Bytes of an element.
    pub size: u64,
}

impl Slice<'_> {
    /// Whether LLVM, too, is told that nothing writes what it reads through this parameter.
    pub fn is_constant(&self) -> bool {
        llvm::is_shared_reference(self.function, self.pointer)
    }
}

/// A kernel's shared slices. Its parameters are those of the table, whatever has been optimised.
pub fn shared_slices<'ctx>(kernel: &FunctionAbi, function: FunctionValue<'ctx>) -> Vec<Slice<'ctx>> {
    let mut found = Vec::new();
    let mut index = 0;
    for param in &kernel.params {
        let shared = param.source.ty.pointee.filter(|pointee| pointee.access == Access::Shared);
        if let (Class::Slice, Some(pointee)) = (param.source.ty.class, shared)
            && let Some(BasicValueEnum::PointerValue(pointer)) = function.get_nth_param(index)
            && let Some(BasicValueEnum::IntValue(len)) = function.get_nth_param(index + 1)
        {
            found.push(Slice { function, pointer, len, size: pointee.size });
        }
        index += u32::try_from(param.ptx.len()).expect("a function has few parameters");
    }
    found
}

/// What a loop does in a round.
struct Round<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    /// Those that run in every round, in their order.
    blocks: Vec<BasicBlock<'ctx>>,
    /// What runs behind some of them in some rounds.
    arms: Vec<Arm<'ctx>>,
    /// Conditions, in their order, and what each must be for the loop to go on.
    checks: Vec<Check<'ctx>>,
    /// What is looked up by what the conditions need, where there are arms.
    looked_up: Vec<InstructionValue<'ctx>>,
    /// What the conditions need from memory.
    early: Vec<Walk<'ctx>>,
    /// Phis of the head, and by how much they grow in each round.
    steps: Vec<(InstructionValue<'ctx>, i64)>,
    /// Other phis of the head that conditions need, as the largest number before.
    carried: Vec<InstructionValue<'ctx>>,
    /// Where the loop goes when it is done.
    end: BasicBlock<'ctx>,
    /// Whether nobody notices that a round was run.
    is_quiet: bool,
}

/// A load whose address grows by the same number of bytes in each round.
struct Walk<'ctx> {
    load: InstructionValue<'ctx>,
    slice: Slice<'ctx>,
    address: Address<'ctx>,
    /// By how many bytes it grows, if that is a constant.
    step: Option<u64>,
    /// Bytes that are loaded.
    width: u64,
}

enum Address<'ctx> {
    /// An address in the slice, which is the same in all rounds, which of the elements behind it is loaded, of so many bytes,
    /// and how many bytes of it are before: `pairs[k][1]`.
    Element(PointerValue<'ctx>, IntValue<'ctx>, u64, u64),
    /// One that itself grows: `for &column in columns`.
    Moved(addresses::Walk<'ctx>),
}

impl<'a, 'ctx> Round<'a, 'ctx> {
    fn of(context: &Context, found: &'a Loop<'ctx>, shape: &Shape<'_, 'ctx>, slices: &[Slice<'ctx>]) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
        let is_short = instructions().take(MOST_INSTRUCTIONS + 1).count() <= MOST_INSTRUCTIONS;
        if !is_short || llvm::unroll_is_disabled(context, &found.jumps_back()) {
            return None;
        }
        let is_quiet = instructions().all(is_quiet);
        if !is_quiet && !instructions().all(keeps_its_place) {
            return None;
        }
        let (mut blocks, mut arms, mut checks) = (vec![found.head], Vec::new(), Vec::new());
        while let Some(&block) = blocks.last().filter(|block| **block != latch) {
            let next = match Arm::of(found, block) {
                Some((arm, asked)) => {
                    let join = arm.join;
                    checks.extend(asked);
                    arms.push(arm);
                    join
                }
                None => {
                    let next = onwards(found, block, &mut checks, false)?;
                    if llvm::predecessors(next) != [block] {
                        return None;
                    }
                    next
                }
            };
            if next == found.head || !found.contains(next) {
                return None;
            }
            blocks.push(next);
        }
        let (then, other) = llvm::branch_targets(latch.get_terminator()?)?;
        let end = if then == found.head { other } else { then };
        let step = |phi| Some((phi, step_of(llvm::result(phi), shape)?));
        let steps = llvm::phis(found.head).filter_map(step).collect();
        let mut round = Self {
            found,
            blocks,
            arms,
            checks,
            looked_up: Vec::new(),
            early: Vec::new(),
            steps,
            carried: Vec::new(),
            end,
            is_quiet,
        };
        let conditions: Vec<BasicValueEnum<'ctx>> = round.checks.iter().map(|check| check.condition.into()).collect();
        let known = conditions.into_iter().all(|condition| round.can_be_early(condition, shape, slices, MOST_STEPS));
        let in_arms: usize = round.arms.iter().map(|arm| arm.blocks.len()).sum();
        let is_all = round.blocks.len() + in_arms == found.blocks.len();
        if !round.arms.is_empty() {
            round.look_up(slices, shape);
        }
        // Where nothing is loaded for them, the loop is split for its checks, or could be.
        (is_all && known && !round.early.is_empty() && round.early.len() <= MOST_LOADS).then_some(round)
    }

    /// Finds what the blocks of every round look up by what is known early, in slices that nobody writes.
    fn look_up(&mut self, slices: &[Slice<'ctx>], shape: &Shape<'_, 'ctx>) {
        for load in
            self.blocks.iter().flat_map(|block| block.get_instructions()).filter(|from| llvm::is_plain_load(*from))
        {
            let Some(BasicValueEnum::PointerValue(address)) = load.get_operand(0).and_then(|operand| operand.value())
            else {
                continue;
            };
            let is_constant = root(address)
                .and_then(|root| slices.iter().find(|slice| slice.pointer == root))
                .is_some_and(Slice::is_constant);
            let is_early = self.early.iter().any(|walk| walk.load == load);
            if is_constant && !is_early && self.is_known(address.into(), shape, MOST_STEPS) {
                self.looked_up.push(load);
            }
        }
    }

    /// Whether a value follows from what is computed early anyway.
    fn is_known(&self, value: BasicValueEnum<'ctx>, shape: &Shape<'_, 'ctx>, steps: u32) -> bool {
        if self.found.is_invariant(value) {
            return true;
        }
        let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
        if from.get_opcode() == InstructionOpcode::Phi {
            return step_of(value, shape).is_some() && self.steps.iter().any(|(phi, _)| *phi == from);
        }
        self.early.iter().any(|walk| walk.load == from)
            || self.looked_up.contains(&from)
            || llvm::is_pure(from)
                && llvm::value_operands(from).all(|(_, operand)| self.is_known(operand, shape, steps - 1))
    }

    /// Whether a value can be computed rounds before its own.
    fn can_be_early(
        &mut self,
        value: BasicValueEnum<'ctx>,
        shape: &Shape<'_, 'ctx>,
        slices: &[Slice<'ctx>],
        steps: u32,
    ) -> bool {
        if self.found.is_invariant(value) {
            return true;
        }
        let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
        if from.get_opcode() == InstructionOpcode::Phi {
            if step_of(value, shape).is_some() || self.carried.contains(&from) {
                return true;
            }
            let Some((_, next)) = self.found.incoming(value).filter(|_| self.is_quiet) else { return false };
            self.carried.push(from);
            return self.can_be_early(next, shape, slices, MOST_STEPS);
        }
        if llvm::is_plain_load(from) {
            if self.early.iter().any(|walk| walk.load == from) {
                return true;
            }
            let walk = Walk::of(from, self.found, shape, slices);
            let Some(walk) = walk.filter(|walk| self.is_quiet || walk.slice.is_constant()) else { return false };
            self.early.push(walk);
        } else if !llvm::is_pure(from) {
            return false;
        }
        llvm::value_operands(from).all(|(_, operand)| self.can_be_early(operand, shape, slices, steps - 1))
    }
}

impl<'ctx> Walk<'ctx> {
    fn of(
        load: InstructionValue<'ctx>,
        found: &Loop<'ctx>,
        shape: &Shape<'_, 'ctx>,
        slices: &[Slice<'ctx>],
    ) -> Option<Self> {
        let BasicValueEnum::PointerValue(address) = load.get_operand(0)?.value()? else { return None };
        let element = llvm::part_of_element(address.as_instruction_value()?)
            .filter(|(base, _, index, _)| index.get_type().get_bit_width() == 64 && found.is_invariant((*base).into()));
        let (base, address, step) = if let Some((base, size, index, more)) = element {
            let step = match shape.constant_step(index, MOST_STEPS) {
                Some(step) => Some(size.wrapping_mul(u64::try_from(step).ok()?)),
                None if !found.is_invariant(index.into()) && !goes_down(index) && shape.grows(index) => None,
                None => return None,
            };
            (base, Address::Element(base, index, size, more), step)
        } else {
            let walk = addresses::Walk::of(found, address).filter(addresses::Walk::goes_up)?;
            let (_, step) = walk.constants()?;
            (walk.first(), Address::Moved(walk), Some(step))
        };
        if step.is_some_and(|step| step == 0 || i64::try_from(step).is_err()) {
            return None;
        }
        let root = root(base)?;
        let slice = *slices.iter().find(|slice| slice.pointer == root)?;
        let width = llvm::type_align(BasicTypeEnum::try_from(load.get_type()).ok()?).0;
        Some(Self { load, slice, address, step, width })
    }
}

/// Whether a number is another one less something.
fn goes_down(number: IntValue<'_>) -> bool {
    number.as_instruction_value().is_some_and(|from| from.get_opcode() == InstructionOpcode::Sub)
}

/// What an address is computed from.
fn root(address: PointerValue<'_>) -> Option<PointerValue<'_>> {
    let mut root = address;
    while let Some(from) = root.as_instruction_value() {
        if from.get_opcode() != InstructionOpcode::GetElementPtr {
            return None;
        }
        let BasicValueEnum::PointerValue(pointer) = from.get_operand(0)?.value()? else { return None };
        root = pointer;
    }
    Some(root)
}

/// Whether an instruction does nothing that could not be seen, or only by what it does to memory. Not a scope of aliases, which
/// holds for one round: in a copy of four, it would for all of them.
fn keeps_its_place(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Op;
    let is_scope = |instruction| {
        llvm::called_function(instruction)
            .is_some_and(|callee| callee.get_name().to_bytes() == b"llvm.experimental.noalias.scope.decl")
    };
    is_quiet(instruction) && !is_scope(instruction)
        || llvm::is_plain_store(instruction)
        || matches!(instruction.get_opcode(), Op::AtomicRMW | Op::AtomicCmpXchg)
        || matches!(instruction.get_opcode(), Op::Load | Op::Store) && llvm::atomicity(instruction).is_some()
}

/// Whether nobody notices that an instruction was run, but by its result.
pub(super) fn is_quiet(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Op;
    let is_said = |name: &std::ffi::CStr| {
        let name = name.to_bytes();
        name == b"llvm.assume" || name == b"llvm.experimental.noalias.scope.decl"
    };
    llvm::is_pure(instruction)
        || llvm::is_plain_load(instruction)
        || llvm::is_division(instruction)
        || matches!(instruction.get_opcode(), Op::Br | Op::Phi | Op::Freeze)
        || llvm::called_function(instruction).is_some_and(|callee| is_said(callee.get_name()))
}

/// By how much a phi of the head grows in each round, if that is a constant; a pointer by so many bytes.
fn step_of<'ctx>(phi: BasicValueEnum<'ctx>, shape: &Shape<'_, 'ctx>) -> Option<i64> {
    match phi {
        BasicValueEnum::IntValue(phi) => shape.counted(phi)?.1.get_sign_extended_constant(),
        BasicValueEnum::PointerValue(phi) => {
            let walk = addresses::Walk::of(shape.found, phi).filter(addresses::Walk::goes_up)?;
            Some(walk.constants()?.1.cast_signed())
        }
        _ => None,
    }
}

struct Stage<'a, 'ctx> {
    emit: Emit<'a, 'ctx>,
    function: FunctionValue<'ctx>,
    round: &'a Round<'a, 'ctx>,
}

/// What a round's instructions compute, in one of the rounds that are run at once.
type Values<'ctx> = HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>;

/// From where rounds are run at once: what the phis are there, and how many rounds are left.
struct Entry<'ctx> {
    from: BasicBlock<'ctx>,
    values: Values<'ctx>,
    left: IntValue<'ctx>,
}

impl<'ctx> Stage<'_, 'ctx> {
    fn write(&self) -> Result<(), BuilderError> {
        let Self { emit, function, round } = self;
        let (builder, head, before) = (&emit.builder, round.found.head, emit.shape.before);
        let Some(end) = before.get_terminator() else { return Ok(()) };
        let number = |value| emit.context.i64_type().const_int(value, false);
        let [test, many] = [(); 2].map(|()| emit.context.append_basic_block(*function, ""));

        builder.position_before(&end);
        let jumps_back = llvm::build_freeze(builder, emit.jumps_back()?);
        let rounds = builder.build_int_add(jumps_back, number(1), "")?;
        let mut all = builder.build_int_compare(IntPredicate::UGE, rounds, number(ROUNDS), "")?;
        for walk in &round.early {
            all = builder.build_and(all, self.stays_inside(walk, jumps_back)?, "")?;
        }
        builder.build_conditional_branch(all, test, head)?;
        end.erase_from_basic_block();

        builder.position_at_end(test);
        let begin = || Entry {
            from: test,
            values: llvm::phis(head).map(|phi| (phi, from_block(phi, before))).collect(),
            left: rounds,
        };
        if self.is_light() {
            let few = emit.context.append_basic_block(*function, "");
            let are_many = builder.build_int_compare(IntPredicate::UGE, rounds, number(MANY_ROUNDS), "")?;
            builder.build_conditional_branch(are_many, many, few)?;
            let rest = self.write_rounds(MANY_ROUNDS, many, &[begin()], (true, Some(few)))?;
            self.write_rounds(ROUNDS, few, &[begin(), rest], (false, None))?;
        } else {
            builder.build_unconditional_branch(many)?;
            self.write_rounds(ROUNDS, many, &[begin()], (true, None))?;
        }
        // It runs for the rounds that are left, or panics.
        llvm::set_unroll(emit.context, &round.found.jumps_back(), Unroll::None);
        Ok(())
    }

    fn latch(&self) -> BasicBlock<'ctx> {
        *self.round.blocks.last().expect("a loop has a block")
    }

    /// Whether more rounds may be run at once than LLVM would unroll.
    fn is_light(&self) -> bool {
        let all = self.round.blocks.iter().flat_map(|block| block.get_instructions());
        let loads = all.filter(|instruction| instruction.get_opcode() == InstructionOpcode::Load).count();
        self.round.is_quiet && loads as u64 * MANY_ROUNDS <= MOST_AT_ONCE
    }

    /// Writes a number of rounds, `again` and again or not, and then the jump to fewer, if those are written `next`; returns
    /// where these begin.
    fn write_rounds(
        &self,
        number: u64,
        batch: BasicBlock<'ctx>,
        entries: &[Entry<'ctx>],
        (again, next): (bool, Option<BasicBlock<'ctx>>),
    ) -> Result<Entry<'ctx>, BuilderError> {
        let Self { emit, function, round } = self;
        let (builder, head) = (&emit.builder, round.found.head);
        let constant = |value| emit.context.i64_type().const_int(value, false);
        let [body, fewer, rest] = [(); 3].map(|()| emit.context.append_basic_block(*function, ""));

        builder.position_at_end(batch);
        let left = builder.build_phi(constant(0).get_type(), "")?;
        let phis: Vec<InstructionValue<'ctx>> = llvm::phis(head).collect();
        let mut made = Vec::new();
        for phi in &phis {
            made.push(builder.build_phi(llvm::result(*phi).get_type(), "")?);
        }
        for entry in entries {
            left.add_incoming(&[(&entry.left, entry.from)]);
            phis.iter().zip(&made).for_each(|(phi, made)| made.add_incoming(&[(&entry.values[phi], entry.from)]));
        }
        let begin: Values<'ctx> = phis.iter().copied().zip(made.iter().map(|phi| phi.as_basic_value())).collect();
        let (holds, early) = self.check(&begin, number)?;
        builder.build_conditional_branch(holds, body, head)?;

        builder.position_at_end(body);
        let (last, values, end) = self.run(&begin, early)?;
        let are_left = builder.build_int_sub(left.as_basic_value().into_int_value(), constant(number), "")?;
        if again {
            let more = builder.build_int_compare(IntPredicate::UGE, are_left, constant(number), "")?;
            builder.build_conditional_branch(more, batch, fewer)?;
            left.add_incoming(&[(&are_left, end)]);
            phis.iter().zip(&made).for_each(|(phi, made)| made.add_incoming(&[(&values[phi], end)]));
        } else {
            builder.build_unconditional_branch(fewer)?;
        }
        builder.position_at_end(fewer);
        match next {
            Some(next) => {
                let more = builder.build_int_compare(IntPredicate::UGE, are_left, constant(ROUNDS), "")?;
                builder.build_conditional_branch(more, next, rest)?
            }
            None => builder.build_unconditional_branch(rest)?,
        };

        builder.position_at_end(rest);
        let none = builder.build_int_compare(IntPredicate::EQ, are_left, constant(0), "")?;
        builder.build_conditional_branch(none, round.end, head)?;
        for phi in llvm::phis(round.end).collect::<Vec<_>>() {
            let value = value_in(&last, from_block(phi, self.latch()));
            llvm::add_incoming(phi, value, rest);
        }
        for phi in phis {
            llvm::add_incoming(phi, begin[&phi], batch);
            llvm::add_incoming(phi, values[&phi], rest);
        }
        Ok(Entry { from: fewer, values, left: are_left })
    }

    /// Whether a slice has what is loaded in every round.
    fn stays_inside(&self, walk: &Walk<'ctx>, jumps_back: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let Self { emit, .. } = self;
        let builder = &emit.builder;
        let word = emit.context.i64_type();
        let number = |value| word.const_int(value, false);
        let address = |pointer| builder.build_ptr_to_int(pointer, word, "");
        let begin = address(walk.slice.pointer)?;
        let never = emit.context.bool_type().const_zero();
        let (first, step, too_wide) = match &walk.address {
            Address::Element(base, index, size, more) => {
                let offset = builder.build_int_sub(address(*base)?, begin, "")?;
                let (first, growth) = emit.affine(*index)?;
                let element = builder.build_int_add(offset, builder.build_int_mul(first, number(*size), "")?, "")?;
                let first = builder.build_int_add(element, number(*more), "")?;
                let (step, too_wide) = match walk.step {
                    Some(step) => (number(step), never),
                    None => {
                        let growth = llvm::build_freeze(builder, growth);
                        emit.overflowing("llvm.umul.with.overflow", growth, number(*size))?
                    }
                };
                (first, step, too_wide)
            }
            Address::Moved(moved) => {
                let (first, step) = moved.affine(builder, word)?;
                (builder.build_int_sub(first, begin, "")?, step, never)
            }
        };
        let first = llvm::build_freeze(builder, first);
        let len = llvm::build_freeze(builder, walk.slice.len);
        // A slice has fewer than 2^63 bytes.
        let bytes = builder.build_int_mul(len, number(walk.slice.size), "")?;
        let ends = emit.call("llvm.usub.sat", bytes, number(walk.width - 1))?;
        let (growth, too_much) = emit.overflowing("llvm.umul.with.overflow", jumps_back, step)?;
        let (last, too_far) = emit.overflowing("llvm.uadd.with.overflow", first, growth)?;
        let below = builder.build_int_compare(IntPredicate::ULT, last, ends, "")?;
        let overflows = builder.build_or(builder.build_or(too_much, too_far, "")?, too_wide, "")?;
        builder.build_and(below, builder.build_not(overflows, "")?, "")
    }

    /// Writes whether the checks of all rounds hold; also returns what was computed for that, round by round.
    fn check(&self, begin: &Values<'ctx>, number: u64) -> Result<(IntValue<'ctx>, Vec<Values<'ctx>>), BuilderError> {
        let builder = &self.emit.builder;
        let never = self.emit.context.bool_type().const_zero();
        let mut all: Option<IntValue<'ctx>> = None;
        let mut rounds: Vec<Values<'ctx>> = Vec::new();
        for round in 0..number {
            let mut values = HashMap::new();
            for &phi in &self.round.carried {
                let value = match rounds.last_mut() {
                    Some(before) => self.early(builder, before, from_block(phi, self.latch())),
                    None => begin[&phi],
                };
                values.insert(phi, value);
            }
            for &(phi, step) in &self.round.steps {
                let growth = step.cast_unsigned().wrapping_mul(round);
                let value = match begin[&phi] {
                    BasicValueEnum::PointerValue(begin) => {
                        let growth = self.emit.context.i64_type().const_int(growth, true);
                        llvm::build_byte_offset(self.emit.context, builder, begin, growth)?.into()
                    }
                    begin => {
                        let begin = begin.into_int_value();
                        let growth = begin.get_type().const_int(growth, true);
                        builder.build_int_add(begin, growth, "")?.into()
                    }
                };
                values.insert(phi, value);
            }
            for check in &self.round.checks {
                let mut condition = self.early(builder, &mut values, check.condition.into()).into_int_value();
                if check.may_be_undefined {
                    condition = llvm::build_freeze(builder, condition);
                }
                let holds = if check.wanted { condition } else { builder.build_not(condition, "")? };
                all = Some(match all {
                    Some(before) => builder.build_select(before, holds, never, "")?.into_int_value(),
                    None => holds,
                });
            }
            rounds.push(values);
        }
        Ok((all.expect("a round has a check"), rounds))
    }

    /// Computes a value of a round, with what is known of it.
    fn early(
        &self,
        builder: &Builder<'ctx>,
        values: &mut Values<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> BasicValueEnum<'ctx> {
        let Some(from) = value.as_instruction_value().filter(|_| !self.round.found.is_invariant(value)) else {
            return value;
        };
        if let Some(known) = values.get(&from) {
            return *known;
        }
        let operands: Vec<_> =
            llvm::value_operands(from).map(|(index, operand)| (index, self.early(builder, values, operand))).collect();
        let copy = llvm::build_copy(builder, from, &operands);
        let stands_in = |arm: &Arm<'ctx>| from.get_parent().is_some_and(|block| arm.blocks.contains(&block));
        if self.round.arms.iter().any(stands_in) {
            llvm::forget_value(copy);
        }
        let copy = llvm::result(copy);
        values.insert(from, copy);
        copy
    }

    /// Writes the rest of all rounds; returns what the last one computes, what the phis are after it, and where it ends.
    fn run(
        &self,
        begin: &Values<'ctx>,
        mut early: Vec<Values<'ctx>>,
    ) -> Result<(Values<'ctx>, Values<'ctx>, BasicBlock<'ctx>), BuilderError> {
        let builder = &self.emit.builder;
        for values in &mut early {
            for load in &self.round.looked_up {
                self.early(builder, values, llvm::result(*load));
            }
        }
        let (mut last, mut next) = (HashMap::new(), begin.clone());
        for mut values in early {
            values.extend(next);
            for block in &self.round.blocks {
                self.copy(*block, &mut values);
                if let Some(arm) = self.round.arms.iter().find(|arm| arm.from == *block) {
                    self.branch(arm, &mut values)?;
                }
            }
            let then = |phi| value_in(&values, from_block(phi, self.latch()));
            next = begin.keys().map(|phi| (*phi, then(*phi))).collect();
            last = values;
        }
        Ok((last, next, builder.get_insert_block().expect("the builder has a place")))
    }

    /// Copies what a block does in a round, but what was computed early.
    fn copy(&self, block: BasicBlock<'ctx>, values: &mut Values<'ctx>) {
        for instruction in block.get_instructions() {
            let is_value = BasicTypeEnum::try_from(instruction.get_type()).is_ok();
            let is_store = instruction.get_opcode() == InstructionOpcode::Store;
            if !is_value && !is_store || values.contains_key(&instruction) {
                continue;
            }
            let operands: Vec<_> =
                llvm::value_operands(instruction).map(|(index, operand)| (index, value_in(values, operand))).collect();
            let copy = llvm::build_copy(&self.emit.builder, instruction, &operands);
            if is_value {
                values.insert(instruction, llvm::result(copy));
            }
        }
    }

    /// Writes a branch of a round, and goes on where its ways meet.
    fn branch(&self, arm: &Arm<'ctx>, values: &mut Values<'ctx>) -> Result<(), BuilderError> {
        let Self { emit, function, .. } = self;
        let builder = &emit.builder;
        let [then, join] = [(); 2].map(|()| emit.context.append_basic_block(*function, ""));
        let from = builder.get_insert_block().expect("the builder has a place");
        let condition = value_in(values, arm.condition.into()).into_int_value();
        let (yes, no) = if arm.wanted { (then, join) } else { (join, then) };
        builder.build_conditional_branch(condition, yes, no)?;
        builder.position_at_end(then);
        arm.blocks.iter().for_each(|block| self.copy(*block, values));
        builder.build_unconditional_branch(join)?;
        builder.position_at_end(join);
        let last = *arm.blocks.last().expect("an arm has a block");
        for phi in llvm::phis(arm.join).collect::<Vec<_>>() {
            let made = builder.build_phi(llvm::result(phi).get_type(), "")?;
            let (taken, passed) =
                (value_in(values, from_block(phi, last)), value_in(values, from_block(phi, arm.from)));
            made.add_incoming(&[(&taken, then), (&passed, from)]);
            values.insert(phi, made.as_basic_value());
        }
        Ok(())
    }
}

/// What a value is in a round; what the loop does not compute is itself.
fn value_in<'ctx>(values: &Values<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    value.as_instruction_value().and_then(|from| values.get(&from)).copied().unwrap_or(value)
}

/// What a phi is if control comes from a block that jumps to its own.
fn from_block<'ctx>(phi: InstructionValue<'ctx>, block: BasicBlock<'ctx>) -> BasicValueEnum<'ctx> {
    llvm::incoming_from(phi, block).expect("a phi has a value for every block that jumps to it")
}

#[cfg(test)]
#[path = "batches_tests.rs"]
mod tests;

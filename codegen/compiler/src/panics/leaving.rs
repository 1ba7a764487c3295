//! Has threads that panic in a loop leave it where the other threads of their warp do.
//!
//! ```text
//! before: loop:  …                                              ; over a vertex's neighbours, as many as it has
//!                br i1 %inside, label %more, label %claim
//!         more:  br i1 %again, label %loop, label %end
//!         claim: %0 = call i64 asm sideeffect "…", "=&l,…"(…)
//!                br label %panic
//! after:  claim: %0 = call i64 asm sideeffect "…", "=&l,…"(…)
//!                br label %left
//!         left:  %failed = phi i1 [ false, %more ], [ true, %claim ]
//!                %record = phi i64 [ poison, %more ], [ %0, %claim ]
//!                br i1 %failed, label %panic, label %end
//! ```
//!
//! Threads of a warp that leave a loop in different rounds meet again where all ways from it do. ptxas does not count a way
//! that ends a thread, but all panics of a function come together in one block, and with several ways to it ptxas takes that
//! one for the place: behind the loop each group of threads went on by itself, to the end of the kernel. A step of a
//! breadth-first search took 1.7 times as long as one with `panic = "trap"`, whose panics come together nowhere.
//!
//! Loops within which all threads of a block stay equally long part no threads, and keep their panics as they are.
//!
//! **Why it is right.** The claim is made where it was, with the same operands, and what follows it is the same; only the
//! other threads of the warp may come to the loop's end before the report is written. They do come there: a loop in which a
//! thread may wait for another, at a barrier, an atomic or volatile load, or in a function, is left alone. A thread that did not
//! panic takes the way that it took, with the same values.

use std::collections::HashSet;

use crate::barriers;
use crate::hash::QuickSet;
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, PhiValue, Use,
};
use crate::loops::{self, Graph, Loop};

/// Loops of one function.
const MOST_LOOPS: usize = 16;

/// Instructions of panics that a loop gets copies of.
const MOST_COPIED: usize = 64;

/// Blocks without anything in them, one behind another.
const MOST_EMPTY: usize = 4;

/// A record that was claimed, or found claimed, and the block from which that is reported.
pub type Claim<'ctx> = (IntValue<'ctx>, BasicBlock<'ctx>);

/// Has the claims, whose blocks all go on to `panic`, leave loops by their ends; returns what then goes on to it.
pub fn leave_by_the_end<'ctx>(
    context: &'ctx Context,
    kernel: FunctionValue<'ctx>,
    panic: BasicBlock<'ctx>,
    claims: Vec<Claim<'ctx>>,
) -> Result<Vec<Claim<'ctx>>, BuilderError> {
    let is_kernel = kernel.get_call_conventions() == llvm::PTX_KERNEL;
    if claims.is_empty() || !is_kernel || Graph::of(kernel).loops().is_empty() {
        return Ok(claims);
    }
    let parting: HashSet<BasicBlock<'ctx>> = barriers::parting(kernel).into_iter().collect();
    leave_loops(context, kernel, panic, claims, |branch| parting.contains(&branch))
}

/// The same of the loops that end at branches at which threads may part.
fn leave_loops<'ctx>(
    context: &'ctx Context,
    kernel: FunctionValue<'ctx>,
    panic: BasicBlock<'ctx>,
    mut claims: Vec<Claim<'ctx>>,
    parts: impl Fn(BasicBlock<'ctx>) -> bool,
) -> Result<Vec<Claim<'ctx>>, BuilderError> {
    let (mut done, mut places) = (HashSet::new(), Places::default());
    for _ in 0..MOST_LOOPS {
        let graph = Graph::of(kernel);
        let returning = llvm::returning_blocks(kernel);
        let find = |found: &Loop<'ctx>| {
            let is_new = !done.contains(&found.head);
            is_new.then(|| Leaving::of(&graph, found, &parts, &returning, panic, &claims, &places)).flatten()
        };
        let mut loops = graph.loops();
        // The inner ones first: what leaves them is in the outer one.
        loops.sort_by_key(|found| found.blocks.len());
        let Some(leaving) = loops.iter().find_map(find) else { break };
        done.insert(leaving.found.head);
        leaving.write(context, kernel, panic, &mut claims, &mut places)?;
    }
    Ok(claims)
}

/// A loop that threads leave in different rounds.
struct Leaving<'ctx> {
    found: Loop<'ctx>,
    /// Where it ends.
    end: BasicBlock<'ctx>,
    /// What jumps there.
    from: Vec<BasicBlock<'ctx>>,
    /// What lies between the loop and that: blocks of nothing but phis.
    between: Vec<BasicBlock<'ctx>>,
    /// How it panics.
    ways: Ways<'ctx>,
}

impl<'ctx> Leaving<'ctx> {
    fn of(
        graph: &Graph<'ctx>,
        found: &Loop<'ctx>,
        parts: &impl Fn(BasicBlock<'ctx>) -> bool,
        returning: &QuickSet<BasicBlock<'ctx>>,
        panic: BasicBlock<'ctx>,
        claims: &[Claim<'ctx>],
        known: &Places<'ctx>,
    ) -> Option<Self> {
        let exits: Vec<(BasicBlock<'ctx>, BasicBlock<'ctx>)> = found
            .blocks
            .iter()
            .flat_map(|block| targets(*block).into_iter().map(|to| (*block, to)))
            .filter(|(_, to)| !found.contains(*to))
            .collect();
        let (ends, fails): (Vec<_>, Vec<_>) = exits.into_iter().partition(|(_, to)| returning.contains(to));
        // A thread that returns is waited for by none.
        let is_more = |place: &BasicBlock<'ctx>| {
            place.get_first_instruction().is_some_and(|first| first.get_opcode() != Op::Return)
        };
        let mut places = ends.iter().map(|(_, to)| place_behind(graph, found, *to)).filter(is_more);
        let end = places.next()?;
        let is_fit = places.all(|place| place == end)
            && ends.iter().any(|(block, _)| parts(*block))
            && !found
                .blocks
                .iter()
                .filter(|block| !known.claimed.contains(block))
                .flat_map(|block| block.get_instructions())
                .any(may_wait);
        if !is_fit {
            return None;
        }
        let ways = Ways::of(graph, found, fails, panic, claims)?;
        // What goes on with the next round of a loop around this one is not all that comes there; nor is another round of a
        // loop that begins there, in which this one's values are known and nobody asks who has panicked.
        let is_around = graph.is_reached_by_way_of(found.head, end);
        let comes =
            |from: &BasicBlock<'ctx>| found.contains(*from) || !is_around && !graph.is_reached_by_way_of(*from, end);
        let from: Vec<_> = graph.before(end).filter(comes).collect();
        // The cases of a switch may go to one block, whose phis name it once for each.
        let is_once = from.iter().all(|from| targets(*from).iter().filter(|to| **to == end).count() == 1);
        is_once.then(|| Self { between: between(graph, found, end), found: found.clone(), end, from, ways })
    }

    fn write(
        &self,
        context: &'ctx Context,
        kernel: FunctionValue<'ctx>,
        panic: BasicBlock<'ctx>,
        claims: &mut Vec<Claim<'ctx>>,
        places: &mut Places<'ctx>,
    ) -> Result<(), BuilderError> {
        let failing = self.ways.part(context, kernel, &self.found, claims);
        // Loops may end at one place.
        let place = match places.left.iter().find(|known| known.block == self.end) {
            Some(known) => *known,
            None => {
                let new = Left::before(context, self.end, &self.from, panic)?;
                claims.push((new.record(), new.block));
                places.left.push(new);
                new
            }
        };
        let own: Vec<Claim<'ctx>> = claims.extract_if(.., |(_, block)| failing.contains(block)).collect();
        place.take(context, panic, &own);
        places.claimed.extend(own.iter().map(|(_, block)| *block));
        self.hand_over(context, kernel, place.block, &own)
    }

    /// Has what comes behind the loop take the loop's values by phis: a thread that panics has none.
    fn hand_over(
        &self,
        context: &'ctx Context,
        kernel: FunctionValue<'ctx>,
        left: BasicBlock<'ctx>,
        own: &[Claim<'ctx>],
    ) -> Result<(), BuilderError> {
        let graph = Graph::of(kernel);
        let builder = context.create_builder();
        let blocks = self.found.blocks.iter().chain(&self.between);
        for value in blocks.flat_map(|block| block.get_instructions()) {
            let behind: Vec<InstructionValue<'ctx>> = llvm::uses(&value)
                .into_iter()
                .filter_map(|user| match user {
                    Use::Instruction(user) => Some(user),
                    Use::Global(_) => None,
                })
                .filter(|user| operands_behind(&graph, *user, value, left).next().is_some())
                .collect();
            if behind.is_empty() {
                continue;
            }
            position_at_start(&builder, left);
            let phi = builder.build_phi(llvm::result(value).get_type(), "")?;
            let is_known = |from| {
                let is_claim = own.iter().any(|(_, block)| *block == from);
                !is_claim && value.get_parent().is_some_and(|place| graph.is_reached_by_way_of(from, place))
            };
            for from in graph.before(left) {
                let passed = if is_known(from) { llvm::result(value) } else { poison_of(value) };
                phi.add_incoming(&[(&passed, from)]);
            }
            for user in behind {
                for index in operands_behind(&graph, user, value, left).collect::<Vec<_>>() {
                    user.set_operand(index, phi.as_basic_value());
                }
            }
        }
        Ok(())
    }
}

/// Where a way out of a loop comes to something: a block that only goes on to another is none, unless another loop has it:
/// its rounds come there too. A loop around this one has no place that it ends at before it goes on.
fn place_behind<'ctx>(graph: &Graph<'ctx>, found: &Loop<'ctx>, out: BasicBlock<'ctx>) -> BasicBlock<'ctx> {
    let next = |block: &BasicBlock<'ctx>| {
        let jump = block.get_instructions().find(|from| from.get_opcode() != Op::Phi)?;
        let [to] = llvm::block_operands(jump)[..] else { return None };
        let is_passed = jump.is_terminator() && !graph.is_reached_by_way_of(found.head, to);
        (is_passed && !comes_again(graph, found, *block)).then_some(to)
    };
    std::iter::successors(Some(out), next).take(MOST_EMPTY).last().unwrap_or(out)
}

/// Whether a thread may come to a block behind a loop again, but for another round of a loop around that.
fn comes_again<'ctx>(graph: &Graph<'ctx>, found: &Loop<'ctx>, block: BasicBlock<'ctx>) -> bool {
    let mut known = HashSet::new();
    let mut pending = targets(block);
    while let Some(next) = pending.pop() {
        if next == block {
            return true;
        }
        if !graph.is_reached_by_way_of(found.head, next) && known.insert(next) {
            pending.extend(targets(next));
        }
    }
    false
}

/// The blocks behind a loop that are on every way to where it ends; without the loop's, and what is on every way to it.
fn between<'ctx>(graph: &Graph<'ctx>, found: &Loop<'ctx>, end: BasicBlock<'ctx>) -> Vec<BasicBlock<'ctx>> {
    std::iter::successors(graph.dominator(end), |block| graph.dominator(*block))
        .take_while(|block| !found.contains(*block) && !graph.is_reached_by_way_of(found.head, *block))
        .collect()
}

/// What was written so far.
#[derive(Default)]
struct Places<'ctx> {
    /// Where loops are left.
    left: Vec<Left<'ctx>>,
    /// The blocks that claim the record and then leave a loop.
    claimed: HashSet<BasicBlock<'ctx>>,
}

/// Where threads leave a loop, whether they panicked or not.
#[derive(Clone, Copy)]
struct Left<'ctx> {
    block: BasicBlock<'ctx>,
    failed: PhiValue<'ctx>,
    record: PhiValue<'ctx>,
}

impl<'ctx> Left<'ctx> {
    /// A block of its own that goes on to a block, with what came there from others.
    fn before(
        context: &'ctx Context,
        end: BasicBlock<'ctx>,
        from: &[BasicBlock<'ctx>],
        panic: BasicBlock<'ctx>,
    ) -> Result<Self, BuilderError> {
        let block = context.prepend_basic_block(end, "left");
        llvm::join_predecessors(end, from, block);
        from.iter().for_each(|from| retarget(*from, end, block));
        let (flag, word) = (context.bool_type(), context.i64_type());
        let builder = context.create_builder();
        builder.position_at_end(block);
        let failed = builder.build_phi(flag, "failed")?;
        let record = builder.build_phi(word, "record")?;
        for from in from {
            failed.add_incoming(&[(&flag.const_zero(), *from)]);
            record.add_incoming(&[(&llvm::poison(word.into()), *from)]);
        }
        let jump = builder.build_conditional_branch(failed.as_basic_value().into_int_value(), panic, end)?;
        llvm::set_unlikely(context, jump);
        Ok(Self { block, failed, record })
    }

    fn record(&self) -> IntValue<'ctx> {
        self.record.as_basic_value().into_int_value()
    }

    /// Has claims, which go on to `panic`, come here.
    fn take(&self, context: &'ctx Context, panic: BasicBlock<'ctx>, claims: &[Claim<'ctx>]) {
        let phis: Vec<_> = llvm::phis(self.block).collect();
        for (record, block) in claims {
            for phi in &phis {
                let value = match *phi {
                    phi if phi == self.failed.as_instruction() => context.bool_type().const_all_ones().into(),
                    phi if phi == self.record.as_instruction() => (*record).into(),
                    phi => poison_of(phi),
                };
                llvm::add_incoming(*phi, value, *block);
            }
            retarget(*block, panic, self.block);
        }
    }
}

/// The blocks by which a loop panics.
struct Ways<'ctx> {
    /// Those by which nothing but the loop panics; what inner loops left is in the loop itself.
    own: Vec<BasicBlock<'ctx>>,
    /// Those by which others do as well.
    shared: Vec<BasicBlock<'ctx>>,
    /// Those that claim the record.
    claiming: Vec<BasicBlock<'ctx>>,
}

impl<'ctx> Ways<'ctx> {
    /// Of the jumps from a loop to where no thread returns, if all lead to claims.
    fn of(
        graph: &Graph<'ctx>,
        found: &Loop<'ctx>,
        fails: Vec<(BasicBlock<'ctx>, BasicBlock<'ctx>)>,
        panic: BasicBlock<'ctx>,
        claims: &[Claim<'ctx>],
    ) -> Option<Self> {
        let mut all = HashSet::new();
        let mut in_order = Vec::new();
        let mut pending: Vec<_> = fails.into_iter().map(|(_, to)| to).rev().collect();
        while let Some(block) = pending.pop() {
            if block != panic && all.insert(block) {
                in_order.push(block);
                pending.extend(targets(block));
            }
        }
        let claiming: Vec<_> = claims
            .iter()
            .map(|(_, block)| *block)
            .filter(|block| all.contains(block) || found.contains(*block))
            .collect();
        // A panic that is written where it stands ends its block.
        if claiming.is_empty() || in_order.iter().any(|block| targets(*block).is_empty()) {
            return None;
        }
        // What others come to, and what comes behind it.
        let mut of_others = HashSet::new();
        let is_others =
            |block: &BasicBlock<'ctx>| graph.before(*block).any(|from| !all.contains(&from) && !found.contains(from));
        let mut pending: Vec<_> = in_order.iter().copied().filter(is_others).collect();
        while let Some(block) = pending.pop() {
            if block != panic && of_others.insert(block) {
                pending.extend(targets(block));
            }
        }
        let (shared, own): (Vec<_>, Vec<_>) = in_order.into_iter().partition(|block| of_others.contains(block));
        let size: usize = shared.iter().map(|block| block.get_instructions().count()).sum();
        (size <= MOST_COPIED).then_some(Self { own, shared, claiming })
    }

    /// Gives the loop copies of what it shares; returns the blocks that claim the record for it.
    fn part(
        &self,
        context: &'ctx Context,
        kernel: FunctionValue<'ctx>,
        found: &Loop<'ctx>,
        claims: &mut Vec<Claim<'ctx>>,
    ) -> HashSet<BasicBlock<'ctx>> {
        let copies = llvm::copy_blocks(context, kernel, &self.shared);
        let is_ours = |block: BasicBlock<'ctx>| found.contains(block) || self.own.contains(&block);
        for (block, copy) in self.shared.iter().zip(&copies) {
            for from in llvm::predecessors(*block).into_iter().filter(|from| is_ours(*from)) {
                retarget(from, *block, *copy);
            }
            llvm::keep_incoming(*block, |from| !is_ours(from));
            llvm::keep_incoming(*copy, |from| is_ours(from) || copies.contains(&from));
        }
        let copy_of = |block: BasicBlock<'ctx>| {
            self.shared.iter().zip(&copies).find(|(shared, _)| **shared == block).map(|(_, copy)| *copy)
        };
        let mut failing = HashSet::new();
        for block in &self.claiming {
            let Some(copy) = copy_of(*block) else {
                failing.insert(*block);
                continue;
            };
            let record = claims.iter().find(|(_, known)| known == block).and_then(|(record, _)| copied(*record, copy));
            if let Some(record) = record {
                claims.push((record, copy));
                failing.insert(copy);
            }
        }
        failing
    }
}

/// The operands of an instruction that are a value, and are read where every way comes by a block.
fn operands_behind<'ctx>(
    graph: &Graph<'ctx>,
    user: InstructionValue<'ctx>,
    value: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
) -> impl Iterator<Item = u32> {
    // A phi reads what it takes where control comes from.
    let taken = if user.get_opcode() == Op::Phi { llvm::incoming(user) } else { Vec::new() };
    llvm::value_operands(user)
        .filter(move |(index, operand)| {
            let place = taken.get(*index as usize).map(|(_, from)| *from).or_else(|| user.get_parent());
            llvm::instruction_of(*operand) == Some(value)
                && place.is_some_and(|place| graph.is_reached_by_way_of(place, block))
                && (user.get_opcode() == Op::Phi || user.get_parent() != Some(block))
        })
        .map(|(index, _)| index)
        .collect::<Vec<_>>()
        .into_iter()
}

/// The copy of a number in a copy of its block.
fn copied<'ctx>(number: IntValue<'ctx>, copy: BasicBlock<'ctx>) -> Option<IntValue<'ctx>> {
    let from = number.as_instruction()?;
    let index = from.get_parent()?.get_instructions().position(|other| other == from)?;
    match llvm::result(copy.get_instructions().nth(index)?) {
        BasicValueEnum::IntValue(number) => Some(number),
        _ => None,
    }
}

fn targets(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    block.get_terminator().map(llvm::block_operands).unwrap_or_default()
}

fn retarget<'ctx>(block: BasicBlock<'ctx>, old: BasicBlock<'ctx>, new: BasicBlock<'ctx>) {
    if let Some(jump) = block.get_terminator() {
        llvm::retarget(jump, old, new);
    }
}

/// Whether a thread may wait for another one at an instruction.
fn may_wait(instruction: InstructionValue<'_>) -> bool {
    match instruction.get_opcode() {
        _ if llvm::is_promised_pure(instruction) => false,
        Op::Load => !llvm::is_plain_load(instruction),
        Op::AtomicRMW => !llvm::uses(&instruction).is_empty(),
        Op::AtomicCmpXchg => true,
        _ => loops::is_convergent(instruction),
    }
}

fn poison_of(value: InstructionValue<'_>) -> BasicValueEnum<'_> {
    llvm::poison(llvm::result(value).get_type())
}

fn position_at_start<'ctx>(builder: &Builder<'ctx>, block: BasicBlock<'ctx>) {
    match block.get_first_instruction() {
        Some(first) => builder.position_before(&first),
        None => builder.position_at_end(block),
    }
}

#[cfg(test)]
#[path = "leaving_tests.rs"]
mod tests;

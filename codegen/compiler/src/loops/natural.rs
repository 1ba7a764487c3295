//! The natural loops of a function, which LLVM's C interface does not tell.

use std::cell::{Cell, OnceCell};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::graph::dominators;
use crate::hash::{QuickMap, QuickSet};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue, Module,
    TargetMachine,
};

/// Blocks that are run again and again, with one head that is always run first.
#[derive(Clone, Debug)]
pub struct Loop<'ctx> {
    /// Where the loop begins.
    pub head: BasicBlock<'ctx>,
    /// Blocks that jump back to the head.
    pub latches: Vec<BasicBlock<'ctx>>,
    /// All blocks, the head first, in the function's order.
    pub blocks: Vec<BasicBlock<'ctx>>,
}

/// What a number is at first, what it is next, and what is added for that in each round.
pub struct Growth<'ctx> {
    pub first: IntValue<'ctx>,
    pub next: IntValue<'ctx>,
    pub step: IntValue<'ctx>,
}

impl<'ctx> Loop<'ctx> {
    /// Whether a block is one of the loop.
    pub fn contains(&self, block: BasicBlock<'ctx>) -> bool {
        self.blocks.contains(&block)
    }

    /// Whether a value is the same in all rounds.
    pub fn is_invariant(&self, value: BasicValueEnum<'ctx>) -> bool {
        let block = value.as_instruction_value().and_then(|from| from.get_parent());
        block.is_none_or(|block| !self.contains(block))
    }

    /// What a phi of the head is at first, and what it is next, if it is one and the loop has one block that jumps back.
    pub fn incoming<V: BasicValue<'ctx>>(&self, value: V) -> Option<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let phi = value.as_instruction_value()?;
        if phi.get_opcode() != InstructionOpcode::Phi || phi.get_parent() != Some(self.head) {
            return None;
        }
        let (inside, outside): (Vec<_>, Vec<_>) =
            llvm::incoming(phi).into_iter().partition(|(_, block)| self.contains(*block));
        match (&outside[..], &inside[..]) {
            ([(first, _)], [(next, _)]) => Some((*first, *next)),
            _ => None,
        }
    }

    /// The same, of what may be a number or an address.
    pub fn incoming_of(&self, value: BasicValueEnum<'ctx>) -> Option<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        match value {
            BasicValueEnum::IntValue(phi) => self.incoming(phi),
            BasicValueEnum::PointerValue(phi) => self.incoming(phi),
            _ => None,
        }
    }

    /// How a phi of the head grows, if what it is next is a sum of itself.
    pub fn growth(&self, phi: IntValue<'ctx>) -> Option<Growth<'ctx>> {
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = self.incoming(phi)? else {
            return None;
        };
        let sum = next.as_instruction_value().filter(|sum| sum.get_opcode() == InstructionOpcode::Add)?;
        let step = llvm::int_operand(sum, 1).filter(|_| llvm::int_operand(sum, 0) == Some(phi))?;
        Some(Growth { first, next, step })
    }

    /// The copy of an instruction in copies of the loop's blocks.
    pub fn copy_of(
        &self,
        copies: &[BasicBlock<'ctx>],
        instruction: InstructionValue<'ctx>,
    ) -> Option<InstructionValue<'ctx>> {
        let block = self.blocks.iter().position(|block| instruction.get_parent() == Some(*block))?;
        let at = self.blocks[block].get_instructions().position(|other| other == instruction)?;
        copies[block].get_instructions().nth(at)
    }

    /// The jumps back to the head.
    pub fn jumps_back(&self) -> Vec<InstructionValue<'ctx>> {
        self.latches.iter().filter_map(|latch| latch.get_terminator()).collect()
    }
}

/// Gives every loop a block before it that goes nowhere else, and phis for the values that leave it.
pub fn simplify(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    const FORM: &str = "function(loop-simplify,lcssa)";
    llvm::run_passes(module, machine, FORM)
        .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{FORM}` failed: {error}")).into())
}

/// The same in one function.
pub fn simplify_in(function: FunctionValue<'_>, machine: &TargetMachine) -> Result<()> {
    const FORM: &str = "loop-simplify,lcssa";
    llvm::run_passes_on_function(function, machine, FORM)
        .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{FORM}` failed: {error}")).into())
}

/// That form before each of several stages in turn: after a stage that has changed nothing, loops have it still, and most
/// kernels have nothing for most stages.
pub struct SimpleForm<'a> {
    /// For LLVM's passes.
    pub machine: &'a TargetMachine,
    is_kept: Cell<bool>,
}

impl<'a> SimpleForm<'a> {
    /// Of a module that may be in any form.
    pub fn of(machine: &'a TargetMachine) -> Self {
        Self { machine, is_kept: Cell::new(false) }
    }

    /// Gives loops the form, if they may have another.
    pub fn give(&self, module: &Module<'_>) -> Result<()> {
        if self.is_kept.replace(true) { Ok(()) } else { simplify(module, self.machine) }
    }

    /// Says that something is changed.
    pub fn lose(&self) {
        self.is_kept.set(false);
    }
}

type Bodies = QuickMap<usize, (Vec<usize>, QuickSet<usize>)>;

/// A function's jumps.
pub struct Graph<'ctx> {
    blocks: Vec<BasicBlock<'ctx>>,
    numbers: QuickMap<BasicBlock<'ctx>, usize>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// Of each block, the one that ends the ways to it last, but for itself; none of those that are never reached. Once
    /// somebody asks: of a function without loops, most have no further question.
    dominators: OnceCell<Vec<Option<usize>>>,
}

impl<'ctx> Graph<'ctx> {
    /// Of a function with a body.
    pub fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let numbers: QuickMap<_, _> = blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let mut successors = vec![Vec::new(); blocks.len()];
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (from, block) in blocks.iter().enumerate() {
            let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
            successors[from].extend(targets.iter().filter_map(|to| numbers.get(to).copied()));
            successors[from].sort_unstable();
            successors[from].dedup();
            successors[from].iter().for_each(|to| predecessors[*to].push(from));
        }
        Self { blocks, numbers, successors, predecessors, dominators: OnceCell::new() }
    }

    fn dominators(&self) -> &[Option<usize>] {
        self.dominators.get_or_init(|| dominators(&self.successors, &self.predecessors))
    }

    fn is_dominated(&self, block: usize, by: usize) -> bool {
        let mut at = block;
        loop {
            if at == by {
                return true;
            }
            match self.dominators()[at] {
                Some(next) if next != at => at = next,
                _ => return false,
            }
        }
    }

    /// The blocks that are reached, each behind the one that is on every way to it.
    pub fn by_dominance(&self) -> Vec<BasicBlock<'ctx>> {
        let depth = |block: usize| {
            let above = |at: &usize| self.dominators()[*at].filter(|above| above != at);
            std::iter::successors(Some(block), above).count()
        };
        let mut reached: Vec<usize> = (0..self.blocks.len()).filter(|at| self.dominators()[*at].is_some()).collect();
        reached.sort_by_key(|at| depth(*at));
        reached.into_iter().map(|at| self.blocks[at]).collect()
    }

    /// Whether every way to a block, which is reached, is by another block, or it is that one.
    pub fn is_reached_by_way_of(&self, block: BasicBlock<'ctx>, other: BasicBlock<'ctx>) -> bool {
        let number = |block| self.numbers.get(&block).copied().filter(|at| self.dominators()[*at].is_some());
        number(block).zip(number(other)).is_some_and(|(block, other)| self.is_dominated(block, other))
    }

    /// The block that is on every way to a block and nearest to it; the first block has none.
    pub fn dominator(&self, block: BasicBlock<'ctx>) -> Option<BasicBlock<'ctx>> {
        let at = *self.numbers.get(&block)?;
        self.dominators()[at].filter(|above| *above != at).map(|above| self.blocks[above])
    }

    /// The block that is on every way to these and nearest to them.
    pub fn common_dominator(&self, blocks: &[BasicBlock<'ctx>]) -> Option<BasicBlock<'ctx>> {
        let above = |block: BasicBlock<'ctx>| std::iter::successors(Some(block), |block| self.dominator(*block));
        above(*blocks.first()?).find(|found| blocks.iter().all(|block| self.is_reached_by_way_of(*block, *found)))
    }

    /// The blocks that jump to a block.
    pub fn before(&self, block: BasicBlock<'ctx>) -> impl Iterator<Item = BasicBlock<'ctx>> {
        self.numbers.get(&block).into_iter().flat_map(|number| &self.predecessors[*number]).map(|at| self.blocks[*at])
    }

    /// The block before a loop that jumps to it and nowhere else, if [`simplify`] made it so.
    pub fn block_before(&self, found: &Loop<'ctx>) -> Option<BasicBlock<'ctx>> {
        let mut outside = self.before(found.head).filter(|block| !found.contains(*block));
        let before = outside.next().filter(|_| outside.next().is_none())?;
        before.get_terminator().is_some_and(|end| llvm::block_operands(end).len() == 1).then_some(before)
    }

    /// Loops within which there is no other.
    pub fn innermost(&self) -> Vec<Loop<'ctx>> {
        let bodies = self.bodies();
        let inner =
            |head: &usize, body: &QuickSet<usize>| bodies.keys().all(|other| other == head || !body.contains(other));
        self.in_order(&bodies, inner)
    }

    /// The blocks that can be reached and are in no innermost loop, where each round would compute again what is put there.
    pub fn outside_innermost(&self) -> QuickSet<BasicBlock<'ctx>> {
        let inside: QuickSet<_> = self.innermost().into_iter().flat_map(|found| found.blocks).collect();
        self.by_dominance().into_iter().filter(|block| !inside.contains(block)).collect()
    }

    /// All loops, in the order of their heads.
    pub fn loops(&self) -> Vec<Loop<'ctx>> {
        self.in_order(&self.bodies(), |_, _| true)
    }

    /// Of each loop's head, the blocks that jump back to it and all blocks.
    fn bodies(&self) -> Bodies {
        let mut bodies = Bodies::default();
        // In whatever order blocks stand, a way back is to one that stands before.
        let is_back = |(from, targets): (usize, &Vec<usize>)| targets.iter().any(|to| *to <= from);
        if !self.successors.iter().enumerate().any(is_back) {
            return bodies;
        }
        for (from, targets) in self.successors.iter().enumerate() {
            // What is never reached is no loop, whatever it jumps to.
            if self.dominators()[from].is_none() {
                continue;
            }
            for &head in targets.iter().filter(|head| self.is_dominated(from, **head)) {
                let (latches, body) = bodies.entry(head).or_insert_with(|| (Vec::new(), QuickSet::from_iter([head])));
                latches.push(from);
                let mut pending = vec![from];
                while let Some(block) = pending.pop() {
                    if body.insert(block) {
                        pending.extend(&self.predecessors[block]);
                    }
                }
            }
        }
        bodies
    }

    fn in_order(&self, bodies: &Bodies, is_wanted: impl Fn(&usize, &QuickSet<usize>) -> bool) -> Vec<Loop<'ctx>> {
        let mut heads: Vec<usize> =
            bodies.iter().filter(|(head, (_, body))| is_wanted(head, body)).map(|(head, _)| *head).collect();
        heads.sort_unstable();
        let at = |number: &usize| self.blocks[*number];
        heads
            .iter()
            .map(|head| {
                let (latches, body) = &bodies[head];
                let mut rest: Vec<usize> = body.iter().copied().filter(|block| block != head).collect();
                rest.sort_unstable();
                let blocks = std::iter::once(head).chain(&rest).map(at).collect();
                Loop { head: at(head), latches: latches.iter().map(at).collect(), blocks }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// The blocks of each innermost loop, by name; the head first.
    fn loops(text: &str) -> Vec<String> {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let names = |found: &Loop<'_>| {
            let names = found.blocks.iter().map(|block| block.get_name().to_string_lossy().into_owned());
            names.collect::<Vec<_>>().join(" ")
        };
        Graph::of(module.get_function("f").unwrap()).innermost().iter().map(names).collect()
    }

    #[test]
    fn inner_loops_are_found() {
        let text = "define void @f(i1 %c) {
            entry: br label %outer
            outer: br label %inner
            inner: br i1 %c, label %body, label %latch
            body: br label %inner
            latch: br i1 %c, label %outer, label %single
            single: br i1 %c, label %single, label %end
            end: ret void
            never: br label %never
        }";
        assert_eq!(loops(text), ["inner body", "single"]);
    }

    #[test]
    fn what_has_two_entries_is_no_loop() {
        let text = "define void @f(i1 %c) {
            entry: br i1 %c, label %a, label %b
            a: br label %b
            b: br i1 %c, label %a, label %end
            end: ret void
        }";
        assert!(loops(text).is_empty());
    }
}

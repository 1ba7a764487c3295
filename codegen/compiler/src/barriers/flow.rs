//! The ways through a kernel that end well, and where they meet again.

use std::collections::{HashMap, HashSet};

use crate::graph;
use crate::llvm::{self, BasicBlock, FunctionValue, InstructionOpcode};

/// The blocks from which a kernel's end can be reached, and the jumps among them. Left out is what ends in a panic or never.
pub struct Flow<'ctx> {
    blocks: Vec<BasicBlock<'ctx>>,
    numbers: HashMap<BasicBlock<'ctx>, usize>,
    successors: Vec<Vec<usize>>,
    /// Of each block, the first that is on every way from it to the end; 0 is the end itself.
    meets: Vec<Option<usize>>,
}

/// Blocks are numbered from 1.
const END: usize = 0;

impl<'ctx> Flow<'ctx> {
    /// Of a function with a body.
    pub fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let numbers: HashMap<_, _> = blocks.iter().enumerate().map(|(at, block)| (*block, at + 1)).collect();
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len() + 1];
        for (block, number) in &numbers {
            let Some(last) = block.get_terminator() else { continue };
            let targets: HashSet<usize> = match last.get_opcode() {
                InstructionOpcode::Return => HashSet::from([END]),
                _ => llvm::block_operands(last).iter().filter_map(|to| numbers.get(to).copied()).collect(),
            };
            successors[*number].extend(targets);
            successors[*number].sort_unstable();
        }
        let mut predecessors = vec![Vec::new(); blocks.len() + 1];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|to| predecessors[*to].push(from));
        }
        // From the end backwards, what dominates is where all ways meet.
        let meets = graph::dominators(&predecessors, &successors);
        successors.iter_mut().for_each(|targets| targets.retain(|to| meets[*to].is_some()));
        Self { blocks, numbers, successors, meets }
    }

    /// Whether the kernel's end can be reached from a block.
    pub fn ends(&self, block: BasicBlock<'ctx>) -> bool {
        self.number(block).is_some()
    }

    /// The blocks that jump to one of several, whichever their condition says.
    pub fn branches(&self) -> impl Iterator<Item = BasicBlock<'ctx>> {
        self.blocks
            .iter()
            .copied()
            .filter(|block| self.number(*block).is_some_and(|number| self.successors[number].len() > 1))
    }

    /// Whether a block is on a way from a branch to the place where all its ways meet.
    pub fn is_between(&self, branch: BasicBlock<'ctx>, block: BasicBlock<'ctx>) -> bool {
        let (Some(branch), Some(block)) = (self.number(branch), self.number(block)) else { return true };
        let meeting = self.meets[branch].unwrap_or(END);
        let mut seen = vec![false; self.successors.len()];
        let mut pending = vec![branch];
        while let Some(at) = pending.pop() {
            for &to in self.successors[at].iter().filter(|to| **to != meeting) {
                if to == block {
                    return true;
                }
                if !std::mem::replace(&mut seen[to], true) {
                    pending.push(to);
                }
            }
        }
        false
    }

    /// Whether ways that part at a branch come to a block one by one, or meet there: what it is told may then differ.
    pub fn joins(&self, branch: BasicBlock<'ctx>, block: BasicBlock<'ctx>) -> bool {
        let meets_here = || {
            let meeting = self.number(branch).and_then(|branch| self.meets[branch]);
            meeting.is_some() && meeting == self.number(block)
        };
        meets_here() || self.is_between(branch, block)
    }

    fn number(&self, block: BasicBlock<'ctx>) -> Option<usize> {
        self.numbers.get(&block).copied().filter(|number| self.meets[*number].is_some())
    }
}

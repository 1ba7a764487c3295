//! The ways through a round of a loop: blocks that run in every round, and arms, which run in some.

use crate::llvm::{self, BasicBlock, BasicValueEnum, IntValue};

use super::branches::panics;
use super::natural::Loop;

/// Blocks of an arm.
const MOST_OF_AN_ARM: usize = 4;

/// A condition, and what it must be.
#[derive(Clone, Copy)]
pub(super) struct Check<'ctx> {
    pub condition: IntValue<'ctx>,
    pub wanted: bool,
    /// Whether it may mean nothing where all conditions before it are as wanted, because it stands in an arm.
    pub may_be_undefined: bool,
}

/// Blocks behind a branch that goes to what comes behind them otherwise.
pub(super) struct Arm<'ctx> {
    pub from: BasicBlock<'ctx>,
    pub blocks: Vec<BasicBlock<'ctx>>,
    pub condition: IntValue<'ctx>,
    /// Whether they run where it holds.
    pub wanted: bool,
    /// Where both ways meet.
    pub join: BasicBlock<'ctx>,
}

impl<'ctx> Arm<'ctx> {
    /// The arm behind a block, and the conditions that are asked there.
    pub fn of(found: &Loop<'ctx>, from: BasicBlock<'ctx>) -> Option<(Self, Vec<Check<'ctx>>)> {
        let end = from.get_terminator()?;
        let (then, other) = llvm::branch_targets(end)?;
        let BasicValueEnum::IntValue(condition) = end.get_operand(0)?.value()? else { return None };
        [(then, other, true), (other, then, false)].into_iter().find_map(|(first, join, wanted)| {
            let (mut blocks, mut checks, mut at) = (Vec::new(), Vec::new(), first);
            while at != join {
                let before = blocks.last().copied().unwrap_or(from);
                if !found.contains(at)
                    || at == found.head
                    || llvm::predecessors(at) != [before]
                    || blocks.len() == MOST_OF_AN_ARM
                {
                    return None;
                }
                blocks.push(at);
                at = onwards(found, at, &mut checks, true)?;
            }
            let comes_from = llvm::predecessors(join);
            let is_joined = comes_from.len() == 2 && comes_from.contains(&from) && comes_from.contains(blocks.last()?);
            is_joined.then_some((Self { from, blocks, condition, wanted, join }, checks))
        })
    }
}

/// The block behind one in a loop, if the other way out of it is a panic or there is none; adds what it asks to the checks.
pub(super) fn onwards<'ctx>(
    found: &Loop<'ctx>,
    block: BasicBlock<'ctx>,
    checks: &mut Vec<Check<'ctx>>,
    may_be_undefined: bool,
) -> Option<BasicBlock<'ctx>> {
    let end = block.get_terminator()?;
    let Some((then, other)) = llvm::branch_targets(end) else {
        return llvm::block_operands(end).first().copied();
    };
    let wanted = found.contains(then);
    let (inside, outside) = if wanted { (then, other) } else { (other, then) };
    let BasicValueEnum::IntValue(condition) = end.get_operand(0)?.value()? else { return None };
    if found.contains(outside) || !panics(outside) {
        return None;
    }
    checks.push(Check { condition, wanted, may_be_undefined });
    Some(inside)
}

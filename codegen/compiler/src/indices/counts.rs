//! What the counters of loops are below, in every round.
//!
//! ```text
//! rows: %y = phi i32 [ %top, %before ], [ %next, %rows ]      ; %top < %bottom, as is seen
//!       …                                                     ; %y < %bottom
//!       %next = add i32 %y, 1
//!       br i1 (icmp ult i32 %next, %bottom), label %rows, label %end
//! ```
//!
//! A loop over rows asks for the next row behind its round, so that no branch above a round tells that its own is below the
//! end.
//!
//! **Why it is right.** The number with which the loop begins is seen to be below the end, and each other one has come by the
//! way back, where the loop has compared it with the end, which is the same in all rounds.

use crate::hash::QuickMap;
use crate::llvm::{self, BasicBlock, BasicValue, BasicValueEnum, InstructionValue, IntPredicate, IntValue};
use crate::loops::Graph;

use super::cases::Cases;
use super::numbers::Numbers;
use super::places::{Area, BITS, Comparison, MOST_STEPS, Order, Place, follow};

/// Comparisons of branches above, the nearest ones.
const MOST_TOLD: usize = 16;

/// What is known where a loop's round begins.
pub struct Counts<'ctx>(QuickMap<BasicBlock<'ctx>, Vec<Comparison<'ctx>>>);

impl<'ctx> Counts<'ctx> {
    /// Of the loops that begin in these blocks, each of which stands behind those that are on every way to it.
    pub fn of(
        graph: &Graph<'ctx>,
        blocks: &[BasicBlock<'ctx>],
        ranges: &Cases<'_, 'ctx>,
        numbers: &mut Numbers<'_, '_, 'ctx>,
        areas: &[Area<'ctx>],
    ) -> Self {
        let mut counts = Self(QuickMap::default());
        for head in blocks {
            let before: Vec<_> = graph.before(*head).collect();
            let is_back = |from: &BasicBlock<'ctx>| graph.is_reached_by_way_of(*from, *head);
            let [one, other] = before[..] else { continue };
            let (entry, back) = match (is_back(&one), is_back(&other)) {
                (false, true) => (one, other),
                (true, false) => (other, one),
                _ => continue,
            };
            let mut place = Place { ranges, facts: ranges.facts(entry), told: counts.told(entry, graph), areas };
            place.told.extend(told_on_the_way(entry, *head));
            let told = told_on_the_way(back, *head);
            let is_below = |phi: InstructionValue<'ctx>| {
                let number = |from| match llvm::incoming_from(phi, from)? {
                    BasicValueEnum::IntValue(number) if number.get_type().get_bit_width() == BITS => Some(number),
                    _ => None,
                };
                let (first, next) = (number(entry)?, number(back)?);
                let BasicValueEnum::IntValue(value) = llvm::result(phi) else { return None };
                let end = told.iter().find_map(|compared| end_of(*compared, next))?;
                let is_before = |from: InstructionValue<'ctx>| {
                    let of = from.get_parent();
                    of.is_some_and(|of| of != *head && graph.is_reached_by_way_of(*head, of))
                };
                let is_same = end.as_instruction_value().is_none_or(is_before);
                let order = Order { small: first, large: end, by: 1 };
                let is_known =
                    is_same && numbers.contain(first) && numbers.contain(end) && place.implies(order, &mut Vec::new());
                is_known.then_some((IntPredicate::ULT, value, end))
            };
            let below: Vec<_> = llvm::phis(*head).filter_map(is_below).collect();
            if !below.is_empty() {
                counts.0.insert(*head, below);
            }
        }
        counts
    }

    /// What the branches above a block have compared, and the loops that it is in, the nearest first.
    pub fn told(&self, block: BasicBlock<'ctx>, graph: &Graph<'ctx>) -> Vec<Comparison<'ctx>> {
        let mut told = Vec::new();
        let mut at = Some(block);
        while let Some(block) = at.filter(|_| told.len() < MOST_TOLD) {
            told.extend(self.0.get(&block).into_iter().flatten());
            let mut before = graph.before(block);
            if let (Some(from), None) = (before.next(), before.next()) {
                told.extend(told_on_the_way(from, block));
            }
            at = graph.dominator(block);
        }
        told.truncate(MOST_TOLD);
        told
    }
}

/// What a branch from one block to another one has compared.
fn told_on_the_way<'ctx>(from: BasicBlock<'ctx>, to: BasicBlock<'ctx>) -> Vec<Comparison<'ctx>> {
    let mut told = Vec::new();
    if let Some(end) = from.get_terminator()
        && let Some((then, other)) = llvm::branch_targets(end)
        && let Some(condition) = llvm::int_operand(end, 0).filter(|_| then == to || other == to)
    {
        follow(condition, then == to, &mut told, MOST_STEPS);
    }
    told
}

/// What the next number of a counter is below by a comparison.
fn end_of<'ctx>((predicate, left, right): Comparison<'ctx>, next: IntValue<'ctx>) -> Option<IntValue<'ctx>> {
    match predicate {
        IntPredicate::ULT if left == next => Some(right),
        IntPredicate::UGT if right == next => Some(left),
        _ => None,
    }
}

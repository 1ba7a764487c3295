//! What decides, alike in all rounds of a loop, whether its rounds come by a check.
//!
//! ```text
//! loop:   …
//!         br i1 %is_edge, label %rest, label %inner
//! inner:  br i1 (icmp ult i64 (sub i64 %index, %width), %len), label %…, label %panic
//! before: br i1 (or i1 %is_edge, %all_inside), label %fast, label %loop      ; as `checks.rs` splits the loop
//! ```
//!
//! The threads at the edge of a volume, which go down their column without a look at its neighbours, are not sent to the loop
//! with the checks because a neighbour would be outside: in a warp with others, they would have both loops run.
//!
//! **Why it is right.** Where the condition is so that no round comes by the check, the copy comes by it no more than the loop
//! would. Where the condition is undefined, so is what the loop does when it branches by it.

use crate::llvm::{self, BasicBlock, IntValue};

use super::natural::{Graph, Loop};

/// Blocks above a check that are looked at.
const MOST_ABOVE: usize = 8;

/// A condition that is the same in all rounds, and what it is where rounds come by a check.
pub type Guard<'ctx> = (IntValue<'ctx>, bool);

/// The conditions of all branches within the loop by one side of which every round comes that comes to a block.
pub fn guards<'ctx>(found: &Loop<'ctx>, graph: &Graph<'ctx>, block: BasicBlock<'ctx>) -> Vec<Guard<'ctx>> {
    let above = std::iter::successors(graph.dominator(block), |at| graph.dominator(*at));
    let above = above.take(MOST_ABOVE).take_while(|at| found.contains(*at));
    above
        .filter_map(|at| {
            let end = at.get_terminator()?;
            let (then, other) = llvm::branch_targets(end)?;
            let condition = llvm::int_operand(end, 0).filter(|condition| found.is_invariant((*condition).into()))?;
            let leads = |to: BasicBlock<'ctx>| llvm::predecessors(to) == [at] && graph.is_reached_by_way_of(block, to);
            let stays = |to: BasicBlock<'ctx>| found.contains(to) && to != found.head;
            match (leads(then), leads(other)) {
                _ if !stays(then) || !stays(other) => None,
                (true, false) => Some((condition, true)),
                (false, true) => Some((condition, false)),
                _ => None,
            }
        })
        .collect()
}

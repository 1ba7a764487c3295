//! Hints about loops, from `ptx::hint`.
//!
//! ```text
//! before:        %token = call i32 @__ptx_unroll_loop()
//!                br label %loop
//!         loop:  …
//!                call void @__ptx_unroll_round(i32 %token, i32 4)
//!                br i1 %more, label %loop, label %end
//! after:         br label %loop
//!         loop:  …
//!                br i1 %more, label %loop, label %end, !llvm.loop !0
//!         !0 = distinct !{!0, !{!"llvm.loop.unroll.count", i32 4}}
//! ```
//!
//! The call in the loop says that there is a hint, the call before it which loop is meant: the innermost cycle through the
//! one that does not pass the other. rustc's optimiser knows neither function, so it removes, moves and merges none of the
//! calls. It may copy them: where it unrolled the loop by itself, several are in one loop, and the hint's number counts for
//! all of them together; where it unrolled the loop altogether, or took a round out of it, a call stands in no such cycle,
//! and the loop around, which has both calls, is not taken for the one that was meant.

use std::collections::{HashMap, HashSet};

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Context, FunctionValue, InstructionValue, Module, Unroll, Use,
};

/// `ptx::hint`'s call before a loop.
const LOOP: &str = "__ptx_unroll_loop";

/// `ptx::hint`'s call in a loop, with the token of the other and a number.
const ROUND: &str = "__ptx_unroll_round";

/// The number that stands for all rounds.
const FULL: u64 = u32::MAX as u64;

/// Marks the loops that have a hint, and removes the calls that said so.
pub fn unroll(context: &Context, module: &Module<'_>) {
    let calls = |name| {
        let uses = module.get_function(name).map(|function| llvm::uses(&function)).unwrap_or_default();
        uses.into_iter().filter_map(|user| match user {
            Use::Instruction(call) => Some(call),
            Use::Global(_) => None,
        })
    };
    let rounds: Vec<_> = calls(ROUND).collect();
    let mut loops: HashMap<(BasicBlock<'_>, u64), (Loop<'_>, u32)> = HashMap::new();
    for (found, times) in rounds.iter().filter_map(|call| Some((Loop::around(*call)?, times(*call)?))) {
        let head = found.head;
        loops.entry((head, times)).or_insert((found, 0)).1 += 1;
    }
    for ((_, times), (found, copies)) in loops {
        let unroll = match times {
            FULL => Unroll::Full,
            1 => Unroll::None,
            _ => match u32::try_from(times).unwrap_or(u32::MAX) / copies {
                // rustc has unrolled it as often.
                0 | 1 => Unroll::None,
                more => Unroll::By(more),
            },
        };
        llvm::set_unroll(context, &found.latches, unroll);
    }
    for call in rounds {
        call.erase_from_basic_block();
    }
    for call in calls(LOOP).collect::<Vec<_>>() {
        llvm::replace_uses(call, context.i32_type().const_zero().into());
        call.erase_from_basic_block();
    }
}

/// The number in a call, and none where it is no constant.
fn times(call: InstructionValue<'_>) -> Option<u64> {
    match call.get_operand(1)?.value()? {
        BasicValueEnum::IntValue(times) => times.get_zero_extended_constant(),
        _ => None,
    }
}

/// A loop with one head.
struct Loop<'ctx> {
    head: BasicBlock<'ctx>,
    /// The jumps back to the head.
    latches: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> Loop<'ctx> {
    /// The loop that a call is about.
    fn around(call: InstructionValue<'ctx>) -> Option<Self> {
        let block = call.get_parent()?;
        let token = call.get_operand(0)?.value()?.as_instruction_value()?;
        let before = token.get_parent()?;
        if before == block {
            return None;
        }
        let graph = Graph::without(block.get_parent()?, before);
        let ahead = Graph::reach(&graph.successors, block);
        let behind = Graph::reach(&graph.predecessors, block);
        let body: HashSet<_> = ahead.intersection(&behind).copied().collect();
        // One that is reached from elsewhere is the head; with several there is no loop in LLVM's sense.
        let entered = |block: &&BasicBlock<'ctx>| {
            graph.entered.contains(*block) || graph.before(**block).any(|from| !body.contains(&from))
        };
        let mut heads = body.iter().filter(entered);
        let (head, other) = (*heads.next()?, heads.next());
        let latches = graph.before(head).filter(|from| body.contains(from));
        let latches: Vec<_> = latches.filter_map(BasicBlock::get_terminator).collect();
        (other.is_none() && !latches.is_empty()).then_some(Self { head, latches })
    }
}

type Edges<'ctx> = HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>;

/// A function's jumps, but for those from and to one block.
struct Graph<'ctx> {
    successors: Edges<'ctx>,
    predecessors: Edges<'ctx>,
    /// Where the block that is left out jumps to, and the function's first.
    entered: HashSet<BasicBlock<'ctx>>,
}

impl<'ctx> Graph<'ctx> {
    fn without(function: FunctionValue<'ctx>, left_out: BasicBlock<'ctx>) -> Self {
        let (mut successors, mut predecessors) = (Edges::new(), Edges::new());
        let mut entered: HashSet<_> = function.get_first_basic_block().into_iter().collect();
        for from in function.get_basic_block_iter() {
            for to in from.get_terminator().into_iter().flat_map(llvm::block_operands) {
                if from == left_out {
                    entered.insert(to);
                } else if to != left_out {
                    successors.entry(from).or_default().push(to);
                    predecessors.entry(to).or_default().push(from);
                }
            }
        }
        Self { successors, predecessors, entered }
    }

    fn before(&self, block: BasicBlock<'ctx>) -> impl Iterator<Item = BasicBlock<'ctx>> {
        self.predecessors.get(&block).into_iter().flatten().copied()
    }

    /// The blocks that one or more jumps from `start` lead to.
    fn reach(edges: &Edges<'ctx>, start: BasicBlock<'ctx>) -> HashSet<BasicBlock<'ctx>> {
        let mut found = HashSet::new();
        let mut pending = vec![start];
        while let Some(from) = pending.pop() {
            for to in edges.get(&from).into_iter().flatten() {
                if found.insert(*to) {
                    pending.push(*to);
                }
            }
        }
        found
    }
}

//! What a comparison of floats decides: computed in any case, then chosen.
//!
//! ```text
//! before: a:    br i1 (fcmp olt float %x, %own), label %end, label %b
//!         b:    br i1 (fcmp oeq float %x, %own), label %c, label %end
//!         c:    %is = icmp ult i32 %j, %me
//!               br label %end
//!         end:  %counts = phi i1 [ true, %a ], [ false, %b ], [ %is, %c ]
//! after:  a:    %is = icmp ult i32 %j, %me
//!               %both = select i1 (fcmp oeq float %x, %own), i1 %is, i1 false
//!               %counts = select i1 (fcmp olt float %x, %own), i1 true, i1 %both
//! ```
//!
//! LLVM does so where integers are compared; after a comparison of floats it keeps the branch, because there is a CPU on which
//! a choice by one is slow. Here it is a predicate like any other, and the branch, at which a warp parts and which ptxas moves
//! nothing across, costs more than one or two instructions. nvcc has no branch for `v < own || v == own && j < me`.
//!
//! Sound: what is computed in any case does no harm, and where the branch would not have come, `select` does not look at it.

use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntValue,
};

use super::cheap::is_cheap;

/// Instructions that are computed in any case, but for those that only extend a number.
const MOST_INSTRUCTIONS: usize = 3;

/// Values that are chosen.
const MOST_VALUES: usize = 2;

/// A branch over a block that only computes.
struct Over<'ctx> {
    head: BasicBlock<'ctx>,
    condition: IntValue<'ctx>,
    /// The block that may be left out, and whether it is run where the condition holds.
    side: BasicBlock<'ctx>,
    side_first: bool,
    end: BasicBlock<'ctx>,
}

/// Chooses where it can, and says whether there was something.
pub fn choose<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
    let mut any = false;
    // A block that a branch goes over stands behind it, mostly: so inner ones are first.
    for head in function.get_basic_blocks().into_iter().rev() {
        if let Some(over) = Over::of(head) {
            over.choose(context)?;
            any = true;
        }
    }
    Ok(any)
}

impl<'ctx> Over<'ctx> {
    fn of(head: BasicBlock<'ctx>) -> Option<Self> {
        let branch = head.get_terminator()?;
        let (then, other) = llvm::branch_targets(branch)?;
        let condition = llvm::int_operand(branch, 0)?;
        let is_of_floats = condition.as_instruction().is_some_and(|from| from.get_opcode() == Op::FCmp);
        let over = |side, side_first, end| Self { head, condition, side, side_first, end };
        [over(then, true, other), over(other, false, then)].into_iter().find(|over| is_of_floats && over.is_fit())
    }

    fn is_fit(&self) -> bool {
        let goes_to_end = self.side.get_terminator().is_some_and(|end| llvm::block_operands(end)[..] == [self.end]);
        let counts = |from: &InstructionValue<'ctx>| !matches!(from.get_opcode(), Op::ZExt | Op::SExt | Op::Trunc);
        goes_to_end
            && self.end != self.head
            && self.side != self.head
            && llvm::predecessors(self.side) == [self.head]
            && llvm::phis(self.side).next().is_none()
            && self.body().all(is_cheap)
            && self.body().filter(counts).count() <= MOST_INSTRUCTIONS
            && self.body().count() <= 2 * MOST_INSTRUCTIONS
            && self.chosen().len() <= MOST_VALUES
            && !self.chosen().is_empty()
    }

    fn body(&self) -> impl Iterator<Item = InstructionValue<'ctx>> + use<'ctx> {
        self.side.get_instructions().filter(|instruction| !instruction.is_terminator())
    }

    /// What the end takes by way of the block, and what by the branch over it, where these differ; equal ones once.
    fn chosen(&self) -> Vec<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let told =
            |phi, from| llvm::incoming(phi).into_iter().find(|(_, block)| *block == from).map(|(value, _)| value);
        let mut chosen = Vec::new();
        for phi in llvm::phis(self.end) {
            let both = told(phi, self.side).zip(told(phi, self.head));
            chosen.extend(both.filter(|both| both.0 != both.1 && !chosen.contains(both)));
        }
        chosen
    }

    fn choose(&self, context: &'ctx Context) -> Result<(), BuilderError> {
        let Some(branch) = self.head.get_terminator() else { return Ok(()) };
        let body: Vec<_> = self.body().collect();
        llvm::move_before(context, &body, branch);
        let builder = context.create_builder();
        builder.position_before(&branch);
        let mut values = Vec::new();
        for (side, head) in self.chosen() {
            let (then, other) = if self.side_first { (side, head) } else { (head, side) };
            values.push(((side, head), builder.build_select(self.condition, then, other, "")?));
        }
        let phis: Vec<_> = llvm::phis(self.end).collect();
        let sides: Vec<_> = phis
            .iter()
            .map(|phi| llvm::incoming(*phi).into_iter().find(|(_, block)| *block == self.side).map(|(value, _)| value))
            .collect();
        // Before any is written anew: a phi may be handed on to another one.
        let chosen = sides.into_iter().zip(&phis).map(|(side, phi)| {
            let pair = (side?, llvm::incoming_from(*phi, self.head)?);
            values.iter().find(|(known, _)| *known == pair).map(|(_, value)| *value)
        });
        let mut chosen = chosen.collect::<Vec<_>>().into_iter();
        llvm::replace_predecessor(self.end, self.head, self.head, |head| chosen.next().flatten().unwrap_or(head));
        // The block is left behind, empty and never reached, so that no phi loses a part.
        builder.build_unconditional_branch(self.end)?;
        branch.erase_from_basic_block();
        Ok(())
    }
}

//! What loops over the chunks of a slice ask of how long a chunk is, of which the answer is known where it is whole.
//!
//! ```text
//! %here = umin(i64 %rest, i64 32)                                   ; `row.chunks(32).filter_map(|c| c.get(lane))`
//! br i1 (icmp ult i64 %lane, %here), label %takes, label %again      ; LLVM may also compare it with `%rest`
//! ```
//!
//! **Why it is right.** Of a whole chunk at least as many elements are left as it has. So what is below that number is
//! below both, what the chunk has and what is left.

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue,
};

use super::super::limits::less;
use super::super::natural::Loop;

/// A comparison of an element's index, which is the same in all rounds, with how many elements there are.
#[derive(Clone, Copy)]
pub struct Asked<'ctx> {
    pub compared: InstructionValue<'ctx>,
    /// Its index in the chunk.
    element: IntValue<'ctx>,
    /// What the comparison is where there is such an element.
    holds: bool,
}

impl<'ctx> Asked<'ctx> {
    /// All that a loop asks of its chunk `here`, the smaller one of `size` and of what is left, `rest`.
    pub fn all(
        found: &Loop<'ctx>,
        here: InstructionValue<'ctx>,
        (rest, size): (IntValue<'ctx>, IntValue<'ctx>),
    ) -> Vec<Self> {
        let is_length = |value: IntValue<'ctx>| value == rest || value.as_instruction_value() == Some(here);
        let constant = IntValue::get_zero_extended_constant;
        let may_be_below = |element: IntValue<'ctx>| {
            element != size && constant(element).zip(constant(size)).is_none_or(|(element, size)| element < size)
        };
        let asked = |compared: InstructionValue<'ctx>| {
            if compared.get_opcode() != Op::ICmp {
                return None;
            }
            [true, false].into_iter().find_map(|holds| {
                let (element, length, is_strict) = less(compared, holds)?;
                let is_one = is_strict && is_length(length) && found.is_invariant(element.into());
                (is_one && may_be_below(element)).then_some(Self { compared, element, holds })
            })
        };
        found.blocks.iter().flat_map(|block| block.get_instructions()).filter_map(asked).collect()
    }

    /// Whether a whole chunk has the element.
    pub fn is_inside(&self, builder: &Builder<'ctx>, size: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let element = llvm::build_freeze(builder, self.element);
        builder.build_int_compare(IntPredicate::ULT, element, size, "")
    }

    /// Whether a block jumps to another one only where a chunk does not have the element.
    pub fn misses(&self, from: BasicBlock<'ctx>, to: BasicBlock<'ctx>) -> bool {
        let Some(jump) = from.get_terminator() else { return false };
        let is_asked = llvm::int_operand(jump, 0).and_then(|asked| asked.as_instruction_value()) == Some(self.compared);
        let taken = llvm::branch_targets(jump).map(|(then, other)| if self.holds { then } else { other });
        is_asked && taken.is_some_and(|taken| taken != to)
    }

    /// Has the comparison, or a copy of it, be what it is where the chunk has the element.
    pub fn answer(&self, compared: InstructionValue<'ctx>) {
        let BasicValueEnum::IntValue(value) = llvm::result(compared) else { return };
        llvm::replace_uses(compared, value.get_type().const_int(u64::from(self.holds), false).into());
    }
}

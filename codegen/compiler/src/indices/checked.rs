//! Sums and products that LLVM computes together with whether they overflow, which indices of 32 bits do not:
//! `llvm.uadd.with.overflow` and `llvm.umul.with.overflow`.

use crate::llvm::{self, AnyTypeEnum, InstructionOpcode as Op, InstructionValue};
use crate::loops::overflowing;

use super::intervals::Interval;

/// What is computed: an addition or a multiplication of the operands of a call.
#[derive(Clone, Copy)]
pub struct Checked<'ctx> {
    pub call: InstructionValue<'ctx>,
    pub op: Op,
}

impl<'ctx> Checked<'ctx> {
    /// What an instruction calls.
    pub fn of_call(call: InstructionValue<'ctx>) -> Option<Self> {
        let op = (call.get_opcode() == Op::Call).then(|| overflowing(call)).flatten()?;
        Some(Self { call, op })
    }

    /// Of which an instruction takes the number of 64 bits.
    pub fn of_number(from: InstructionValue<'ctx>) -> Option<Self> {
        let is_wide = matches!(from.get_type(), AnyTypeEnum::IntType(ty) if ty.get_bit_width() == 64);
        Self::of_part(from, 0).filter(|_| is_wide)
    }

    /// Of which an instruction takes whether it overflows.
    pub fn of_flag(from: InstructionValue<'ctx>) -> Option<Self> {
        Self::of_part(from, 1)
    }

    fn of_part(from: InstructionValue<'ctx>, wanted: u32) -> Option<Self> {
        if from.get_opcode() != Op::ExtractValue {
            return None;
        }
        let (call, part) = llvm::part_of(from)?;
        Self::of_call(call).filter(|_| part == wanted)
    }

    /// Of these two, as if numbers had no end; not of numbers that are below 0 with a sign.
    pub fn exact(self, [left, right]: [Interval; 2]) -> Option<Interval> {
        let computed = match self.op {
            Op::Add => left.corners(right, |a, b| a + b),
            _ => left.corners(right, |a, b| a.saturating_mul(b)),
        };
        (left.low >= 0 && right.low >= 0).then_some(computed)
    }
}

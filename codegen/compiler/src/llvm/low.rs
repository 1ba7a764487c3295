//! Numbers of 64 bits that were extended from 32.

use super::{BasicValue, BasicValueEnum, Builder, BuilderError, Context, InstructionOpcode as Op, IntValue};

/// A number of 32 bits that was extended without a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Low<'ctx> {
    /// All of the number.
    Whole(IntValue<'ctx>),
    /// The lower half of one of 64 bits.
    Half(IntValue<'ctx>),
}

impl<'ctx> Low<'ctx> {
    /// What a number of 64 bits was extended from.
    pub fn of(wide: IntValue<'ctx>) -> Option<Self> {
        let from = wide.as_instruction_value().filter(|_| wide.get_type().get_bit_width() == 64)?;
        let side = |index| match from.get_operand(index)?.value()? {
            BasicValueEnum::IntValue(value) => Some(value),
            _ => None,
        };
        match from.get_opcode() {
            Op::ZExt => side(0).filter(|number| number.get_type().get_bit_width() == 32).map(Self::Whole),
            Op::And if side(1)?.get_zero_extended_constant() == Some(u64::from(u32::MAX)) => side(0).map(Self::Half),
            _ => None,
        }
    }

    /// The number itself, written where the builder stands.
    pub fn write(self, context: &'ctx Context, builder: &Builder<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        match self {
            Self::Whole(number) => Ok(number),
            Self::Half(wide) => builder.build_int_truncate(wide, context.i32_type(), ""),
        }
    }
}

//! What may as well be done for nothing.

use crate::llvm::{self, InstructionOpcode as Op, InstructionValue};

/// Whether an instruction is one or two of the machine's and does no harm.
pub fn is_cheap(instruction: InstructionValue<'_>) -> bool {
    llvm::is_pure(instruction) && instruction.get_opcode() != Op::FDiv
}

//! What a kernel may be given, and gives it.

use crate::arch::Arch;
use crate::llvm::{self, AttributeLoc, Context, FunctionValue, InstructionOpcode as Op, InstructionValue};

/// What ptxas takes beside the values: for addresses, the stack, and to load early.
pub const RESERVE: u64 = 8;

/// Registers of a multiprocessor (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub const OF_A_MULTIPROCESSOR: u64 = 65_536;

/// What a user has said of a kernel's registers, or what depends on them.
const SAID: [&str; 2] = ["nvvm.maxnreg", "nvvm.minctasm"];

/// Whether nobody has said how many a kernel has, and it calls nothing that has registers of its own.
pub fn are_open(kernel: FunctionValue<'_>) -> bool {
    let is_said = |name: &&str| kernel.get_string_attribute(AttributeLoc::Function, name).is_some();
    !SAID.iter().any(is_said) && !llvm::instructions(kernel).any(calls_a_function)
}

/// Gives a kernel so many.
pub fn give<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>, count: u64) {
    let attribute = context.create_string_attribute("nvvm.maxnreg", &count.to_string());
    kernel.add_attribute(AttributeLoc::Function, attribute);
}

/// How many registers each of all threads that a multiprocessor can run has. They are given by eights.
pub fn of_a_thread(arch: Arch) -> Option<u64> {
    threads_at_once(arch).map(|threads| OF_A_MULTIPROCESSOR / threads / 8 * 8)
}

/// How many threads a multiprocessor can run.
pub fn threads_at_once(arch: Arch) -> Option<u64> {
    match arch.number() {
        75 => Some(1024),
        86 | 87 | 89 | 120 | 121 => Some(1536),
        70 | 72 | 80 | 90 | 100 | 103 => Some(2048),
        _ => None,
    }
}

/// Whether an instruction calls what has registers of its own.
fn calls_a_function(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == Op::Call
        && llvm::inline_assembly(instruction).is_none()
        && llvm::called_function(instruction).is_none_or(|function| function.count_basic_blocks() > 0)
}

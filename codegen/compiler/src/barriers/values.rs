//! Which values are the same in all threads of a block.

use std::collections::{HashMap, HashSet};

use super::flow::Flow;
use crate::llvm::{self, BasicBlock, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue};

/// Where a block is in the grid, and how large both are (PTX ISA, "Special Registers").
const OF_THE_BLOCK: [&str; 6] = ["ctaid.", "nctaid.", "ntid.", "gridid", "clusterid.", "nclusterid."];

/// The branches whose condition may differ among the threads of a block.
///
/// Every value counts as the same in all threads until something says otherwise, and what depends on it then follows: so the
/// number of a loop's round, which depends on itself, is the same as long as the loop's ends are.
pub fn parting<'ctx>(kernel: FunctionValue<'ctx>, flow: &Flow<'ctx>) -> Vec<BasicBlock<'ctx>> {
    let instructions: Vec<InstructionValue<'ctx>> = llvm::instructions(kernel).collect();
    let mut differs: HashSet<InstructionValue<'ctx>> = HashSet::new();
    // Whether the ways from a branch join at a block.
    let mut joined: HashMap<(BasicBlock<'ctx>, BasicBlock<'ctx>), bool> = HashMap::new();
    loop {
        let is_parting = |branch: &BasicBlock<'ctx>| {
            branch
                .get_terminator()
                .is_none_or(|jump| llvm::value_operands(jump).any(|(_, value)| varies(value, &differs)))
        };
        let parting: Vec<BasicBlock<'ctx>> = flow.branches().filter(is_parting).collect();
        let found: Vec<InstructionValue<'ctx>> = instructions
            .iter()
            .copied()
            .filter(|value| !differs.contains(value))
            .filter(|value| {
                !follows(*value)
                    || llvm::value_operands(*value).any(|(_, operand)| varies(operand, &differs))
                    || value.get_opcode() == InstructionOpcode::Phi
                        && value.get_parent().is_none_or(|block| {
                            let mut joins = |branch: &BasicBlock<'ctx>| {
                                *joined.entry((*branch, block)).or_insert_with(|| flow.joins(*branch, block))
                            };
                            parting.iter().any(&mut joins)
                        })
            })
            .collect();
        if found.is_empty() {
            return parting;
        }
        differs.extend(found);
    }
}

/// Whether an instruction's result follows from its operands, and from where the block is.
fn follows(instruction: InstructionValue<'_>) -> bool {
    llvm::is_pure(instruction)
        || llvm::is_division(instruction)
        || instruction.get_opcode() == InstructionOpcode::Phi
        || llvm::special_register(instruction)
            .is_some_and(|register| OF_THE_BLOCK.iter().any(|known| register.starts_with(known)))
}

/// Whether a value may differ. Parameters and constants are the same in all threads.
fn varies<'ctx>(value: BasicValueEnum<'ctx>, differs: &HashSet<InstructionValue<'ctx>>) -> bool {
    value.as_instruction_value().is_some_and(|instruction| differs.contains(&instruction))
}

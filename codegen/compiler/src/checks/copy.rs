//! Computes again what a check needs, at another place.

use std::collections::{HashMap, HashSet};

use crate::llvm::{self, BasicBlock, BasicValue, BasicValueEnum, Builder, InstructionValue};

/// Values that some blocks compute, at another place.
pub struct Copies<'ctx> {
    blocks: HashSet<BasicBlock<'ctx>>,
    known: HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>,
}

impl<'ctx> Copies<'ctx> {
    /// Of values that these blocks compute.
    pub fn new(blocks: HashSet<BasicBlock<'ctx>>) -> Self {
        Self { blocks, known: HashMap::new() }
    }

    /// The value where the builder stands; earlier places must come before it on every way.
    pub fn of(&mut self, builder: &Builder<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
        let Some(from) = value.as_instruction_value() else { return value };
        if from.get_parent().is_none_or(|block| !self.blocks.contains(&block)) {
            return value;
        }
        if let Some(copy) = self.known.get(&from) {
            return *copy;
        }
        let operands: Vec<(u32, BasicValueEnum<'ctx>)> =
            llvm::value_operands(from).map(|(index, operand)| (index, self.of(builder, operand))).collect();
        let copy = llvm::result(llvm::build_copy(builder, from, &operands));
        self.known.insert(from, copy);
        copy
    }

    /// Has an instruction behind that place compute with the copies.
    pub fn use_in(&mut self, builder: &Builder<'ctx>, instruction: InstructionValue<'ctx>) {
        for (index, operand) in llvm::value_operands(instruction).collect::<Vec<_>>() {
            let copy = self.of(builder, operand);
            if copy != operand {
                instruction.set_operand(index, copy);
            }
        }
    }
}

//! Computes again what a check needs, at another place, and copies blocks whose checks it shows to hold.

use std::collections::{HashMap, HashSet};

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionValue,
    IntValue,
};

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

/// Two ways behind a block.
pub struct Version<'ctx> {
    head: BasicBlock<'ctx>,
    /// Where the way as it was begins.
    pub slow: BasicBlock<'ctx>,
    old: Vec<BasicBlock<'ctx>>,
    copies: Vec<BasicBlock<'ctx>>,
    instructions: HashMap<InstructionValue<'ctx>, InstructionValue<'ctx>>,
}

impl<'ctx> Version<'ctx> {
    /// Where the copies begin.
    pub fn begin(&self) -> BasicBlock<'ctx> {
        self.copies[0]
    }

    /// The copy of a block; of the head, that of how it ended.
    pub fn copy_of(&self, block: BasicBlock<'ctx>) -> BasicBlock<'ctx> {
        let block = if block == self.head { self.slow } else { block };
        let at = self.old.iter().position(|known| *known == block).expect("the block was copied");
        self.copies[at]
    }

    /// The copy of an instruction of a block that was copied.
    pub fn copy_of_instruction(&self, instruction: InstructionValue<'ctx>) -> InstructionValue<'ctx> {
        self.instructions[&instruction]
    }
}

/// Copies blocks that come behind a head alone, as [`llvm::copy_blocks`] can, and has the head go to the copies where a
/// condition holds, which is known at its end.
pub fn version<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    head: BasicBlock<'ctx>,
    blocks: &[BasicBlock<'ctx>],
    condition: IntValue<'ctx>,
) -> Result<Version<'ctx>, BuilderError> {
    let builder = context.create_builder();
    let end = head.get_terminator().expect("a block that is finished ends in a jump");
    let slow = context.append_basic_block(function, "");
    builder.position_at_end(slow);
    match llvm::branch_targets(end) {
        Some((then, other)) => {
            builder.build_conditional_branch(
                llvm::int_operand(end, 0).expect("a branch has a condition"),
                then,
                other,
            )?;
            [then, other].into_iter().for_each(|to| llvm::replace_predecessor(to, head, slow, |value| value));
        }
        None => {
            let to = llvm::block_operands(end)[0];
            builder.build_unconditional_branch(to)?;
            llvm::replace_predecessor(to, head, slow, |value| value);
        }
    }
    end.erase_from_basic_block();
    let old: Vec<BasicBlock<'ctx>> = [slow].into_iter().chain(blocks.iter().copied()).collect();
    let copies = llvm::copy_blocks(context, function, &old);
    builder.position_at_end(head);
    builder.build_conditional_branch(condition, copies[0], slow)?;
    let pairs = old.iter().zip(&copies);
    let instructions = pairs.flat_map(|(block, copy)| block.get_instructions().zip(copy.get_instructions())).collect();
    Ok(Version { head, slow, old, copies, instructions })
}

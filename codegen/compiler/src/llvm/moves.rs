//! Moving instructions within a function.

use super::{BasicBlock, Builder, Context, InstructionValue};

/// Moves instructions, in their order, to a place.
pub fn move_before<'ctx>(context: &'ctx Context, moved: &[InstructionValue<'ctx>], place: InstructionValue<'ctx>) {
    move_to(context, moved, |builder| builder.position_before(&place));
}

/// Moves instructions, in their order, to the end of a block.
pub fn move_to_end<'ctx>(context: &'ctx Context, moved: &[InstructionValue<'ctx>], block: BasicBlock<'ctx>) {
    move_to(context, moved, |builder| builder.position_at_end(block));
}

fn move_to<'ctx>(context: &'ctx Context, moved: &[InstructionValue<'ctx>], place: impl Fn(&Builder<'ctx>)) {
    let builder = context.create_builder();
    for instruction in moved {
        let location = instruction.get_debug_location();
        let name = instruction.get_name().map(|name| name.to_string_lossy().into_owned());
        instruction.remove_from_basic_block();
        place(&builder);
        builder.insert_instruction(instruction, name.as_deref());
        // The builder gives it that of the place.
        instruction.set_debug_location(location);
    }
}

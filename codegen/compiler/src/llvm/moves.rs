//! Moving instructions within a function.

use super::{Context, InstructionValue};

/// Moves instructions, in their order, to a place.
pub fn move_before<'ctx>(context: &'ctx Context, moved: &[InstructionValue<'ctx>], place: InstructionValue<'ctx>) {
    let builder = context.create_builder();
    for instruction in moved {
        let location = instruction.get_debug_location();
        let name = instruction.get_name().map(|name| name.to_string_lossy().into_owned());
        instruction.remove_from_basic_block();
        builder.position_before(&place);
        builder.insert_instruction(instruction, name.as_deref());
        // The builder gives it that of the place.
        instruction.set_debug_location(location);
    }
}

//! Has the loops of a kernel's small copy see that what the kernel is given has 32 bits there.
//!
//! ```text
//! before: loop: %down = mul i64 %k, %width                          ; %width is below 2^15, says the test
//!               load float, ptr (getelementptr float, ptr %column, i64 %down)
//! after:  loop: %down = mul i64 %k, (zext i32 (trunc i64 %width))
//! ```
//!
//! Addresses that follow each other are one instruction each, if their step has 32 bits ([`crate::loops::walk`]). Sound: the
//! copy runs where the number is below 2^32, so that its lower half is the number.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, BuilderError, Context, InstructionOpcode as Op, InstructionValue, IntValue,
};
use crate::loops::Graph;

/// Extends such parameters of 64 bits, given with what they are frozen to in the test, for what loops of one block compute with
/// them; `end` stands before the small copy.
pub fn extend<'ctx>(
    context: &'ctx Context,
    graph: &Graph<'ctx>,
    params: impl Iterator<Item = (IntValue<'ctx>, IntValue<'ctx>)>,
    end: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    builder.position_before(&end);
    let loops = graph.innermost();
    let blocks = || loops.iter().filter(|found| found.blocks.len() == 1).map(|found| found.head);
    for (param, frozen) in params {
        let mut extended: Option<IntValue<'ctx>> = None;
        for user in blocks().flat_map(|block| block.get_instructions()).filter(computes) {
            let known: Vec<_> = llvm::value_operands(user).filter(|(_, value)| is(*value, param)).collect();
            for (index, _) in known {
                let new = match extended {
                    Some(new) => new,
                    None => {
                        let lower = builder.build_int_truncate(frozen, context.i32_type(), "")?;
                        builder.build_int_z_extend(lower, context.i64_type(), "")?
                    }
                };
                extended = Some(new);
                assert!(user.set_operand(index, new), "the user has that operand");
            }
        }
    }
    Ok(())
}

/// Whether an instruction may compute an address. Not comparisons, which the plan has seen to.
fn computes(user: &InstructionValue<'_>) -> bool {
    matches!(user.get_opcode(), Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::GetElementPtr)
}

/// Whether a value is a parameter: stages have frozen it, and the test has again.
fn is<'ctx>(value: BasicValueEnum<'ctx>, param: IntValue<'ctx>) -> bool {
    let BasicValueEnum::IntValue(mut value) = value else { return false };
    while let Some(from) = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Freeze)
        && let Some(inner) = llvm::int_operand(from, 0)
    {
        value = inner;
    }
    value == param
}

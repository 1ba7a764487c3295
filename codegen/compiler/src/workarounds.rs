//! What NVIDIA's assembler gets wrong, kept from it.

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValueEnum, BuilderError, Context, InstructionOpcode, InstructionValue, IntValue, Intrinsic, Module,
};

/// The oldest arch whose code is wrong.
const FIRST_WRONG: u32 = 90;

/// Computes minima and maxima of 8 and 16 bits in 32.
///
/// ptxas 13.0.88 folds a comparison with the result of `max.u16` into the instruction `VIMNMX.U16x2`, and takes the wrong side
/// of it: a `match` on the larger of two bytes went astray on an H200. Before `max.u32` the comparison stays apart.
pub fn widen_small_extremes<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) -> Result<()> {
    if arch.number() < FIRST_WRONG {
        return Ok(());
    }
    for function in llvm::functions(module) {
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            widen(context, module, instruction).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot widen a minimum or maximum: {error}"))
            })?;
        }
    }
    Ok(())
}

fn widen<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    instruction: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some((operation, left, right)) = small_extreme(instruction) else { return Ok(()) };
    let (narrow, wide) = (left.get_type(), context.i32_type());
    let Some(callee) = Intrinsic::find(operation).and_then(|i| i.get_declaration(module, &[wide.into()])) else {
        return Ok(());
    };
    let builder = context.create_builder();
    builder.position_before(&instruction);
    let extend = |value: IntValue<'ctx>| {
        if operation.starts_with("llvm.s") {
            builder.build_int_s_extend(value, wide, "")
        } else {
            builder.build_int_z_extend(value, wide, "")
        }
    };
    let call = builder.build_call(callee, &[extend(left)?.into(), extend(right)?.into()], "")?;
    if let Some(value) = call.try_as_basic_value().basic() {
        let result = builder.build_int_truncate(value.into_int_value(), narrow, "")?;
        if let Some(result) = result.as_instruction() {
            instruction.replace_all_uses_with(&result);
            instruction.erase_from_basic_block();
        }
    }
    Ok(())
}

/// The operation's name without its type, and its operands.
fn small_extreme<'ctx>(instruction: InstructionValue<'ctx>) -> Option<(&'static str, IntValue<'ctx>, IntValue<'ctx>)> {
    if instruction.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    let operand = |index| instruction.get_operand(index).and_then(|operand| operand.value());
    let BasicValueEnum::PointerValue(callee) = operand(instruction.get_num_operands() - 1)? else { return None };
    let name = callee.get_name().to_str().ok()?;
    let (operation, width) = name.rsplit_once('.')?;
    let known = ["llvm.umin", "llvm.umax", "llvm.smin", "llvm.smax"];
    let operation = known.into_iter().find(|known| *known == operation)?;
    match (width, operand(0)?, operand(1)?) {
        ("i8" | "i16", BasicValueEnum::IntValue(left), BasicValueEnum::IntValue(right)) => {
            Some((operation, left, right))
        }
        _ => None,
    }
}

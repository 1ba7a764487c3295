//! Which instructions the modes make a difference to.

use crate::llvm::{self, AnyTypeEnum, BasicTypeEnum, BasicValueEnum, InstructionOpcode, InstructionValue};

/// Whether a mode can change what the instruction computes.
pub fn is_affected(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{FAdd, FCmp, FDiv, FMul, FNeg, FPExt, FPToSI, FPToUI, FPTrunc, FRem, FSub};
    match instruction.get_opcode() {
        FAdd | FSub | FMul | FDiv | FRem | FNeg | FCmp | FPExt | FPTrunc | FPToSI | FPToUI => true,
        InstructionOpcode::Call => is_affected_call(instruction),
        _ => false,
    }
}

/// LLVM's operations on floats, and functions that are still to be found: libdevice's, and the question which modes hold.
fn is_affected_call(call: InstructionValue<'_>) -> bool {
    let Some(callee) = llvm::called_function(call).filter(|callee| callee.count_basic_blocks() == 0) else {
        return false;
    };
    let name = callee.get_name().to_bytes();
    if name.starts_with(b"__ptx_") || name.starts_with(b"llvm.nvvm.") {
        return false;
    }
    name.starts_with(b"__nv") || is_float(call.get_type()) || operands_are_float(call)
}

fn operands_are_float(call: InstructionValue<'_>) -> bool {
    call.get_operands().flatten().filter_map(|operand| operand.value()).any(|value| is_float_value(&value))
}

fn is_float_value(value: &BasicValueEnum<'_>) -> bool {
    match value.get_type() {
        BasicTypeEnum::FloatType(_) => true,
        BasicTypeEnum::VectorType(vector) => vector.get_element_type().is_float_type(),
        _ => false,
    }
}

fn is_float(ty: AnyTypeEnum<'_>) -> bool {
    match ty {
        AnyTypeEnum::FloatType(_) => true,
        AnyTypeEnum::VectorType(vector) => vector.get_element_type().is_float_type(),
        _ => false,
    }
}

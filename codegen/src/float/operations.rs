//! Which instructions the modes make a difference to.

use crate::llvm::{self, AnyTypeEnum, BasicMetadataTypeEnum, FunctionValue, InstructionOpcode, InstructionValue};

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
    name.starts_with(b"__nv") || is_float(call.get_type()) || takes_float(callee)
}

/// By the signature: an operand may be metadata, which is no value.
fn takes_float(callee: FunctionValue<'_>) -> bool {
    callee.get_type().get_param_types().into_iter().any(|param| match param {
        BasicMetadataTypeEnum::FloatType(_) => true,
        BasicMetadataTypeEnum::VectorType(vector) => vector.get_element_type().is_float_type(),
        _ => false,
    })
}

fn is_float(ty: AnyTypeEnum<'_>) -> bool {
    match ty {
        AnyTypeEnum::FloatType(_) => true,
        AnyTypeEnum::VectorType(vector) => vector.get_element_type().is_float_type(),
        _ => false,
    }
}

//! What an instruction is to the modes: whether they make a difference to it, a quotient, a root, a product.

use crate::llvm::{
    self, AnyTypeEnum, BasicMetadataTypeEnum, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue,
};

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
    let asks = name == b"llvm.nvvm.reflect";
    if name.starts_with(b"__ptx_") || (name.starts_with(b"llvm.nvvm.") && !asks) {
        return false;
    }
    asks || name.starts_with(b"__nv") || is_float(call.get_type()) || takes_float(callee)
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

/// The attribute by which LLVM knows `.ftz`.
pub const DENORMAL: &str = "denormal-fp-math-f32";

/// What `prec-div` and `prec-sqrt` are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `fdiv`
    Divide,
    /// `llvm.sqrt`
    SquareRoot,
}

/// Which of them an instruction is, of single precision only.
pub fn operation(instruction: InstructionValue<'_>) -> Option<Operation> {
    let single = match instruction.get_type() {
        AnyTypeEnum::FloatType(ty) => ty.get_bit_width() == 32,
        AnyTypeEnum::VectorType(ty) => {
            ty.get_element_type().is_float_type() && ty.get_element_type().into_float_type().get_bit_width() == 32
        }
        _ => false,
    };
    if !single {
        return None;
    }
    match instruction.get_opcode() {
        InstructionOpcode::FDiv => Some(Operation::Divide),
        InstructionOpcode::Call => {
            let callee = llvm::called_function(instruction)?;
            callee.get_name().to_bytes().starts_with(b"llvm.sqrt.").then_some(Operation::SquareRoot)
        }
        _ => None,
    }
}

/// The product that may be fused which a value is.
pub fn product(value: BasicValueEnum<'_>) -> Option<InstructionValue<'_>> {
    let instruction = match value {
        BasicValueEnum::FloatValue(value) => value.as_instruction(),
        BasicValueEnum::VectorValue(value) => value.as_instruction(),
        _ => None,
    };
    instruction.filter(|i| i.get_opcode() == InstructionOpcode::FMul && llvm::float_flags(*i).contract)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    #[test]
    fn operands_may_be_metadata() {
        // inkwell panicked, and with it the build.
        let context = Context::create();
        let text = r#"
            declare void @llvm.experimental.noalias.scope.decl(metadata)
            declare void @takes(i32, <2 x float>)
            define void @f(<2 x float> %x) {
              call void @llvm.experimental.noalias.scope.decl(metadata !0)
              call void @takes(i32 1, <2 x float> %x)
              ret void
            }
            !0 = !{!1}
            !1 = distinct !{!1, !2}
            !2 = distinct !{!2}
        "#;
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it defines `f`");
        let affected: Vec<bool> = llvm::instructions(function).map(is_affected).collect();
        assert_eq!(affected, [false, true, false]);
    }
}

//! Keeps operations that must not be fused apart from those that may be, where a program has both.
//!
//! ```text
//! before: %p = fmul float %a, %a                                 (inlined from a function without fmad)
//!         %q = fmul contract float %a, %a                        (from one with it)
//! hidden: %p = call float @ptx.separate.fmul.f32(float %a, float %a)
//!         %q = fmul contract float %a, %a
//! after:  %p = call float @llvm.nvvm.mul.rn.f(float %a, float %a)
//!         %q = fmul contract float %a, %a
//! ```
//!
//! LLVM's optimiser and its instruction selection make one of two operations on the same operands, with the flags that both
//! have: the one function's mode would take the other's fusion away. They merge no call with an instruction.

use crate::llvm::{
    self, AnyTypeEnum, Attribute, AttributeLoc, BasicMetadataValueEnum, BasicType, BasicValueEnum, BuilderError,
    Context, FloatType, FunctionValue, InstructionOpcode, InstructionValue, Module,
};
use crate::marks::modes_of;

/// What begins the names of the functions that stand for operations.
const PREFIX: &str = "ptx.separate.";

/// Hides the sums, differences and products of functions without fmad, if others have it.
pub fn hide<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
    let computing: Vec<(FunctionValue<'ctx>, Vec<InstructionValue<'ctx>>)> = llvm::functions(module)
        .map(|function| (function, llvm::instructions(function).filter(|i| name(*i).is_some()).collect::<Vec<_>>()))
        .filter(|(_, operations)| !operations.is_empty())
        .collect();
    let fuses = |function: &FunctionValue<'ctx>| modes_of(*function).fmad;
    if !computing.iter().any(|(function, _)| fuses(function)) {
        return Ok(());
    }
    let builder = context.create_builder();
    for (_, operations) in computing.into_iter().filter(|(function, _)| !fuses(function)) {
        for operation in operations {
            let (Some(name), Some([left, right])) = (name(operation), operands(operation)) else { continue };
            let callee = declare(context, module, &name, left.get_type().into_float_type());
            builder.position_before(&operation);
            let arguments: [BasicMetadataValueEnum<'ctx>; 2] = [left.into(), right.into()];
            let call = builder.build_call(callee, &arguments, "")?;
            if let Some(value) = call.try_as_basic_value().basic() {
                llvm::replace_uses(operation, value);
                operation.erase_from_basic_block();
            }
        }
    }
    Ok(())
}

/// The operation that a call stands for: `add`, `sub` or `mul`.
pub fn hidden(call: InstructionValue<'_>) -> Option<&'static str> {
    if call.get_opcode() != InstructionOpcode::Call {
        return None;
    }
    let callee = llvm::called_function(call)?;
    let name = callee.get_name().to_str().ok()?.strip_prefix(PREFIX)?;
    ["add", "sub", "mul"].into_iter().find(|operation| name.get(1..).is_some_and(|name| name.starts_with(operation)))
}

/// The stand-in's name, for scalars of single and double precision.
fn name(instruction: InstructionValue<'_>) -> Option<String> {
    let operation = match instruction.get_opcode() {
        InstructionOpcode::FAdd => "fadd",
        InstructionOpcode::FSub => "fsub",
        InstructionOpcode::FMul => "fmul",
        _ => return None,
    };
    match instruction.get_type() {
        AnyTypeEnum::FloatType(ty) if matches!(ty.get_bit_width(), 32 | 64) => {
            Some(format!("{PREFIX}{operation}.f{}", ty.get_bit_width()))
        }
        _ => None,
    }
}

fn operands(instruction: InstructionValue<'_>) -> Option<[BasicValueEnum<'_>; 2]> {
    let operand = |index| instruction.get_operand(index)?.value();
    Some([operand(0)?, operand(1)?])
}

/// Declares a function that LLVM may move, join and drop as it may an instruction.
fn declare<'ctx>(context: &Context, module: &Module<'ctx>, name: &str, ty: FloatType<'ctx>) -> FunctionValue<'ctx> {
    if let Some(function) = module.get_function(name) {
        return function;
    }
    let function = module.add_function(name, ty.fn_type(&[ty.as_basic_type_enum().into(); 2], false), None);
    for attribute in ["nounwind", "willreturn", "speculatable", "nosync", "nofree", "nocallback", "memory"] {
        // `memory` with 0 is `memory(none)`.
        let attribute = context.create_enum_attribute(Attribute::get_named_enum_kind_id(attribute), 0);
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    function
}

//! An instruction's operands. inkwell's own getter panics at metadata, which calls may have.

use inkwell::llvm_sys::LLVMTypeKind as Kind;
use inkwell::llvm_sys::core::{LLVMGetNumOperands, LLVMGetOperand, LLVMGetTypeKind, LLVMTypeOf};
use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::{AsValueRef, BasicValueEnum, FloatValue, InstructionValue, IntValue};

/// The values among an instruction's operands, with their numbers.
pub fn value_operands(instruction: InstructionValue<'_>) -> impl Iterator<Item = (u32, BasicValueEnum<'_>)> {
    // SAFETY: the instruction is live.
    let count = unsafe { LLVMGetNumOperands(instruction.as_value_ref()).cast_unsigned() };
    (0..count).filter_map(move |index| Some((index, operand(instruction, index)?)))
}

/// An operand that is a value, if there is such.
pub fn operand(instruction: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    let (operand, kind) = raw(instruction, index)?;
    let is_basic = matches!(
        kind,
        Kind::LLVMIntegerTypeKind
            | Kind::LLVMPointerTypeKind
            | Kind::LLVMHalfTypeKind
            | Kind::LLVMBFloatTypeKind
            | Kind::LLVMFloatTypeKind
            | Kind::LLVMDoubleTypeKind
            | Kind::LLVMArrayTypeKind
            | Kind::LLVMStructTypeKind
            | Kind::LLVMVectorTypeKind
    );
    // SAFETY: its type is one that values in registers have.
    is_basic.then(|| unsafe { BasicValueEnum::new(operand) })
}

/// An operand that is an integer.
pub fn int_operand(instruction: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    let (operand, kind) = raw(instruction, index)?;
    // SAFETY: its type is an integer's.
    (kind == Kind::LLVMIntegerTypeKind).then(|| unsafe { IntValue::new(operand) })
}

/// An operand that is one number of single or double precision, and no vector.
pub fn float_operand(instruction: InstructionValue<'_>, index: u32) -> Option<FloatValue<'_>> {
    let (operand, kind) = raw(instruction, index)?;
    let is_float = matches!(kind, Kind::LLVMFloatTypeKind | Kind::LLVMDoubleTypeKind);
    // SAFETY: its type is a float's.
    is_float.then(|| unsafe { FloatValue::new(operand) })
}

/// An operand and the kind of its type.
fn raw(instruction: InstructionValue<'_>, index: u32) -> Option<(LLVMValueRef, Kind)> {
    // SAFETY: the instruction is live, the index below its number of operands, and only what is there is asked for its type.
    unsafe {
        if index >= LLVMGetNumOperands(instruction.as_value_ref()).cast_unsigned() {
            return None;
        }
        let operand = LLVMGetOperand(instruction.as_value_ref(), index);
        (!operand.is_null()).then(|| (operand, LLVMGetTypeKind(LLVMTypeOf(operand))))
    }
}

//! Values that mean nothing become numbers.
//!
//! LLVM computes before it knows whether it needs the result, with operands that are undefined where it does not. An
//! instruction of its own then gives something undefined. A call or a branch in its place is undefined behaviour: LLVM
//! believes that control never gets there.

use inkwell::llvm_sys::core::LLVMBuildFreeze;

use super::{
    AsValueRef, BasicValueEnum, Builder, FunctionValue, InstructionOpcode, InstructionValue, IntValue, Use,
    called_function, uses,
};

/// A value that is some number even where `value` is undefined, and the same number for all who look.
pub fn build_freeze<'ctx>(builder: &Builder<'ctx>, value: IntValue<'ctx>) -> IntValue<'ctx> {
    freeze(builder, value.into()).into_int_value()
}

/// The same of a value of any type.
pub fn freeze<'ctx>(builder: &Builder<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    let is_number = match value {
        BasicValueEnum::IntValue(value) => value.is_constant_int(),
        BasicValueEnum::FloatValue(value) => value.get_constant().is_some(),
        _ => false,
    };
    if is_number {
        return value;
    }
    assert!(builder.get_insert_block().is_some(), "the builder has a place");
    // SAFETY: the value is live, and the builder stands in a block of its function; a freeze is of its operand's type.
    unsafe { BasicValueEnum::new(LLVMBuildFreeze(builder.as_mut_ptr(), value.as_value_ref(), c"".as_ptr())) }
}

/// Freezes the arguments of an intrinsic's calls, before a function takes its place.
pub fn freeze_arguments<'ctx>(builder: &Builder<'ctx>, intrinsic: FunctionValue<'ctx>) {
    for user in uses(&intrinsic) {
        if let Use::Instruction(call) = user
            && call.get_opcode() == InstructionOpcode::Call
            && called_function(call) == Some(intrinsic)
        {
            freeze_operands(builder, call);
        }
    }
}

fn freeze_operands<'ctx>(builder: &Builder<'ctx>, call: InstructionValue<'ctx>) {
    builder.position_before(&call);
    for index in 0..call.get_num_operands() {
        // The function itself is a pointer.
        if let Some(value) = call.get_operand(index).and_then(|operand| operand.value())
            && !value.is_pointer_value()
        {
            let frozen = freeze(builder, value);
            assert!(call.set_operand(index, frozen), "a call has that argument");
        }
    }
}

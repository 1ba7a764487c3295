//! Values that mean nothing become numbers.
//!
//! LLVM computes before it knows whether it needs the result, with operands that are undefined where it does not. An
//! instruction of its own then gives something undefined. A call or a branch in its place is undefined behaviour: LLVM
//! believes that control never gets there.

use inkwell::llvm_sys::core::LLVMBuildFreeze;

use super::{
    AsValueRef, Attribute, AttributeLoc, BasicValue, BasicValueEnum, Builder, FunctionValue, InstructionOpcode,
    InstructionValue, IntValue, Use, called_function, uses,
};

/// A value that is some number even where `value` is undefined, and the same number for all who look.
pub fn build_freeze<'ctx>(builder: &Builder<'ctx>, value: IntValue<'ctx>) -> IntValue<'ctx> {
    freeze(builder, value.into()).into_int_value()
}

/// Whether a parameter is said to be some number, and the same one for all who look.
pub fn is_defined<'ctx>(function: FunctionValue<'ctx>, param: BasicValueEnum<'ctx>) -> bool {
    let noundef = Attribute::get_named_enum_kind_id("noundef");
    let index = function.get_param_iter().position(|known| known == param).expect("it is the function's");
    let place = AttributeLoc::Param(u32::try_from(index).expect("a function has few parameters"));
    function.get_enum_attribute(place, noundef).is_some()
}

/// Has a parameter be some number for all who look, where it is not said to be one. The builder stands before all of them.
pub fn freeze_parameter<'ctx>(
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
    param: IntValue<'ctx>,
) -> IntValue<'ctx> {
    if is_defined(function, param.into()) {
        return param;
    }
    let frozen = build_freeze(builder, param);
    param.replace_all_uses_with(frozen);
    let freeze = frozen.as_instruction_value().expect("a parameter is no constant");
    assert!(freeze.set_operand(0, param), "it freezes one value");
    frozen
}

/// The same as [`build_freeze`] of a value of any type.
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

//! Tells LLVM that the pointers which a kernel is given point to global memory, as its code generator assumes.
//!
//! ```text
//! before: define ptx_kernel void @k(ptr %p) { … use ptr %p …
//! after:  %g = addrspacecast ptr %p to ptr addrspace(1)
//!         %q = addrspacecast ptr addrspace(1) %g to ptr
//!         … use ptr %q …, which `infer-address-spaces` makes uses of %g
//! ```
//!
//! `NVPTXLowerArgs` does the same, but only inside code generation, when atomics have been written.

use std::collections::HashSet;

use crate::llvm::{
    self, AddressSpace, AnyTypeEnum, Attribute, AttributeLoc, BasicValue, BasicValueEnum, Builder, BuilderError,
    Context, FunctionValue, InstructionOpcode, InstructionValue, Module, PointerValue,
};

/// Marks the pointers of every kernel: parameters, and those in parameters passed by value.
pub fn assume_global<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    let kernels = llvm::functions(module).filter(|f| f.get_call_conventions() == llvm::PTX_KERNEL);
    for kernel in kernels.filter(|f| f.count_basic_blocks() > 0) {
        let by_value = by_value_params(kernel);
        for load in llvm::instructions(kernel).filter(|i| loads_pointer_of(*i, &by_value)).collect::<Vec<_>>() {
            let Some(next) = load.get_next_instruction() else { continue };
            let BasicValueEnum::PointerValue(pointer) = llvm::result(load) else { continue };
            builder.position_before(&next);
            mark(context, &builder, pointer)?;
        }
        let first = kernel.get_first_basic_block().and_then(|block| block.get_first_instruction());
        for (index, param) in kernel.get_param_iter().enumerate() {
            if let (BasicValueEnum::PointerValue(pointer), Some(first)) = (param, first)
                && !by_value.contains(&index)
                && llvm::address_space(pointer) == 0
            {
                builder.position_before(&first);
                mark(context, &builder, pointer)?;
            }
        }
    }
    Ok(())
}

fn mark<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    pointer: PointerValue<'ctx>,
) -> Result<(), BuilderError> {
    let global = builder.build_address_space_cast(pointer, context.ptr_type(AddressSpace::from(1)), "")?;
    let generic = builder.build_address_space_cast(global, context.ptr_type(AddressSpace::from(0)), "")?;
    let cast = global.as_instruction_value();
    if cast.is_some() && generic.as_instruction_value().is_some() {
        pointer.replace_all_uses_with(generic);
        // That turned the first cast's operand, too.
        cast.into_iter().for_each(|cast| _ = cast.set_operand(0, pointer));
    }
    Ok(())
}

fn by_value_params(kernel: FunctionValue<'_>) -> HashSet<usize> {
    let byval = Attribute::get_named_enum_kind_id("byval");
    let has = |index: &usize| {
        let index = u32::try_from(*index).expect("parameters are few");
        kernel.get_enum_attribute(AttributeLoc::Param(index), byval).is_some()
    };
    (0..kernel.count_params() as usize).filter(has).collect()
}

/// Whether it loads a pointer from a parameter that is passed by value.
fn loads_pointer_of(instruction: InstructionValue<'_>, by_value: &HashSet<usize>) -> bool {
    if instruction.get_opcode() != InstructionOpcode::Load
        || !matches!(instruction.get_type(), AnyTypeEnum::PointerType(ty) if llvm::address_space_of(ty) == 0)
    {
        return false;
    }
    let mut from = instruction.get_operand(0).and_then(|operand| operand.value());
    while let Some(BasicValueEnum::PointerValue(pointer)) = from {
        let Some(step) = pointer.as_instruction_value() else {
            return llvm::param_index(pointer).is_some_and(|index| by_value.contains(&index));
        };
        if !matches!(step.get_opcode(), InstructionOpcode::GetElementPtr | InstructionOpcode::AddrSpaceCast) {
            return false;
        }
        from = step.get_operand(0).and_then(|operand| operand.value());
    }
    false
}

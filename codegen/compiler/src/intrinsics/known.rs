//! Makes what goes through the crate `ptx`'s pointers of a known space accesses of that space.
//!
//! ```text
//! before: %q = call ptr @__ptx_known_shared(ptr %p)
//!         %v = load i32, ptr %q
//! after:  %s = addrspacecast ptr %p to ptr addrspace(3)
//!         %v = load i32, ptr addrspace(3) %s
//! ```
//!
//! Before optimising, and when the functions around the calls are inlined: LLVM folds a cast to a space and back again,
//! also while it inlines. It is sound because who calls the function promises the space.

use super::table::{self, Body};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionValue, Module, TargetMachine,
    Use,
};

/// Writes the casts, and infers spaces from them.
pub fn infer<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    let known = |function: FunctionValue<'ctx>| match table::find(function.get_name().to_str().ok()?)?.body {
        Body::Known(space) | Body::From(space) => Some((function, space)),
        _ => None,
    };
    let functions: Vec<_> = llvm::functions(module).filter_map(known).collect();
    if functions.is_empty() {
        return Ok(());
    }
    let run = |passes: &str| {
        llvm::run_passes(module, machine, passes).map_err(|error| Diagnostic::error(Code::LlvmFailed, error))
    };
    run("always-inline,function(sroa)")?;
    for (function, space) in functions {
        for user in llvm::uses(&function) {
            let Use::Instruction(call) = user else { continue };
            cast(context, call, space).map_err(|error| Diagnostic::error(Code::LlvmFailed, error.to_string()))?;
        }
    }
    run("function(infer-address-spaces),globaldce")?;
    Ok(())
}

/// Puts the casts in place of the call.
fn cast<'ctx>(context: &'ctx Context, call: InstructionValue<'ctx>, space: u16) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    builder.position_before(&call);
    let inside = context.ptr_type(AddressSpace::from(space));
    let pointer = match call.get_operand(0).and_then(|operand| operand.value()) {
        Some(BasicValueEnum::PointerValue(pointer)) => builder.build_address_space_cast(pointer, inside, "")?,
        Some(BasicValueEnum::IntValue(address)) => builder.build_int_to_ptr(address, inside, "")?,
        _ => return Ok(()),
    };
    let generic = builder.build_address_space_cast(pointer, context.ptr_type(AddressSpace::from(0)), "")?;
    if let BasicValueEnum::PointerValue(result) = llvm::result(call) {
        result.replace_all_uses_with(generic);
    }
    call.erase_from_basic_block();
    Ok(())
}

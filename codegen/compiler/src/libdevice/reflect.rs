//! Answers what libdevice asks of the compiler, per function: whether its modes say ftz, prec-sqrt or fast functions, and
//! which arch it is compiled for.
//!
//! Before: `%1 = call i32 @__nvvm_reflect(ptr @.str)` with `@.str = "__CUDA_FTZ\00"`. After: 0 or 1, and the branch not
//! taken is gone, at every level of optimisation: it may hold an instruction that the arch does not have.

use std::collections::HashSet;

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AnyTypeEnum, Attribute, AttributeLoc, BasicValueEnum, Context, FunctionValue, InstructionValue, Module,
    TargetMachine, Use,
};
use crate::marks;

/// The names under which libdevice, NVIDIA's headers and LLVM ask.
const NAMES: [&str; 3] = ["__nvvm_reflect", "__nvvm_reflect_ocl", "llvm.nvvm.reflect"];

/// Folds every question, for one arch.
pub fn specialize<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    arch: Arch,
) -> Result<()> {
    let mut asking: HashSet<FunctionValue<'ctx>> = HashSet::new();
    for reflect in NAMES.into_iter().filter_map(|name| module.get_function(name)) {
        for user in llvm::uses(&reflect) {
            let Use::Instruction(call) = user else { continue };
            // A use of another kind, or of another type, is a user's own and stays.
            let AnyTypeEnum::IntType(ty) = call.get_type() else { continue };
            if llvm::called_function(call) != Some(reflect) {
                continue;
            }
            let Some(function) = call.get_parent().and_then(|block| block.get_parent()) else { continue };
            let answer = answer(&question(call), function, arch);
            llvm::replace_uses(call, ty.const_int(answer, false).into());
            call.erase_from_basic_block();
            asking.insert(function);
        }
        // What else uses it is an undefined symbol.
        if llvm::uses(&reflect).is_empty() {
            // SAFETY: nothing uses it, and this is its only handle.
            unsafe { llvm::delete_function(reflect) };
        }
    }
    if asking.is_empty() { Ok(()) } else { drop_untaken(context, module, machine, &asking) }
}

/// The string that a call asks about.
fn question(call: InstructionValue<'_>) -> String {
    let Some(BasicValueEnum::PointerValue(pointer)) = call.get_operand(0).and_then(|operand| operand.value()) else {
        return String::new();
    };
    llvm::constant_string(pointer).unwrap_or_default()
}

/// As nvcc answers; 0 for what it does not know.
fn answer(question: &str, function: FunctionValue<'_>, arch: Arch) -> u64 {
    let modes = marks::modes_of(function);
    match question {
        "__CUDA_FTZ" => modes.ftz.into(),
        "__CUDA_PREC_SQRT" => modes.prec_sqrt.into(),
        "__CUDA_PREC_DIV" => modes.prec_div.into(),
        "__CUDA_USE_FAST_MATH" => modes.fast_functions.into(),
        "__CUDA_ARCH" => u64::from(arch.number()) * 10,
        _ => 0,
    }
}

/// Removes the blocks that the answers cut off, from the functions that asked and from no other: without optimisation
/// users' functions stay as they are.
fn drop_untaken<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    machine: &TargetMachine,
    asking: &HashSet<FunctionValue<'ctx>>,
) -> Result<()> {
    let kind = Attribute::get_named_enum_kind_id("optnone");
    let others: Vec<_> = llvm::functions(module)
        .filter(|function| function.count_basic_blocks() > 0 && !asking.contains(function))
        .filter(|function| function.get_enum_attribute(AttributeLoc::Function, kind).is_none())
        .collect();
    // LLVM's pass manager leaves functions with this attribute alone.
    let attribute = context.create_enum_attribute(kind, 0);
    others.iter().for_each(|function| function.add_attribute(AttributeLoc::Function, attribute));
    llvm::doing(Code::LlvmFailed, "cannot specialise the maths library");
    let result = llvm::run_passes(module, machine, "function(instsimplify,simplifycfg)");
    others.iter().for_each(|function| function.remove_enum_attribute(AttributeLoc::Function, kind));
    result.map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot specialise the maths library: {error}")).into()
    })
}

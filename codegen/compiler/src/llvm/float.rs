//! Flags of floating-point instructions, and functions in several copies.

use inkwell::llvm_sys::core::{
    LLVMCanValueUseFastMathFlags, LLVMGetCalledValue, LLVMGetFastMathFlags, LLVMGetNumOperands, LLVMGetOperand,
    LLVMGetTypeKind, LLVMIsACallInst, LLVMIsAFunction, LLVMSetFastMathFlags, LLVMSetOperand, LLVMTypeOf,
};
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMFastMathApproxFunc, LLVMTypeKind};

use inkwell::values::{CallSiteValue, FloatValue};

use super::{
    AsValueRef, Attribute, AttributeLoc, BasicBlock, Context, FunctionValue, InstructionValue, Linkage, Module,
    ParseError, Use, bitcode, functions, globals, uses,
};

/// What an instruction may be made into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatFlags {
    /// `contract`: one operation with another, rounded once.
    pub contract: bool,
    /// `afn`: an approximation.
    pub approximate: bool,
}

/// Whether an instruction can have [`FloatFlags`].
pub fn has_float_flags(instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is live.
    unsafe { LLVMCanValueUseFastMathFlags(instruction.as_value_ref()) != 0 }
}

/// Those of an instruction; none where it cannot have them.
pub fn float_flags(instruction: InstructionValue<'_>) -> FloatFlags {
    if !has_float_flags(instruction) {
        return FloatFlags::default();
    }
    // SAFETY: the instruction is live, and can have flags.
    let flags = unsafe { LLVMGetFastMathFlags(instruction.as_value_ref()) };
    FloatFlags { contract: flags & LLVMFastMathAllowContract != 0, approximate: flags & LLVMFastMathApproxFunc != 0 }
}

/// Whether an operation gives what is nearest to its exact result, or is rounded with another one at once.
pub fn is_rounded(instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is live, and asked for flags only if it can have them.
    unsafe {
        LLVMCanValueUseFastMathFlags(instruction.as_value_ref()) != 0
            && LLVMGetFastMathFlags(instruction.as_value_ref()) & !LLVMFastMathAllowContract == 0
    }
}

/// Sets the two flags of an instruction that can have them, and leaves the others.
pub fn set_float_flags(instruction: InstructionValue<'_>, flags: FloatFlags) {
    assert!(has_float_flags(instruction), "the instruction has no such flags");
    // SAFETY: the instruction is live, and can have flags.
    unsafe {
        let mut bits = LLVMGetFastMathFlags(instruction.as_value_ref());
        bits &= !(LLVMFastMathAllowContract | LLVMFastMathApproxFunc);
        if flags.contract {
            bits |= LLVMFastMathAllowContract;
        }
        if flags.approximate {
            bits |= LLVMFastMathApproxFunc;
        }
        LLVMSetFastMathFlags(instruction.as_value_ref(), bits);
    }
}

/// The function that a call names; none for other instructions and for calls through pointers.
pub fn called_function(instruction: InstructionValue<'_>) -> Option<FunctionValue<'_>> {
    // SAFETY: the instruction is live, and asked for its callee only if it is a call.
    unsafe {
        if LLVMIsACallInst(instruction.as_value_ref()).is_null() {
            return None;
        }
        let callee = LLVMGetCalledValue(instruction.as_value_ref());
        if LLVMIsAFunction(callee).is_null() { None } else { FunctionValue::new(callee) }
    }
}

/// Whether an instruction calls a function whose name begins so.
pub fn calls(instruction: InstructionValue<'_>, names: &[&str]) -> bool {
    let callee = called_function(instruction);
    callee.is_some_and(|callee| names.iter().any(|name| callee.get_name().to_bytes().starts_with(name.as_bytes())))
}

/// The functions among an instruction's operands; a call's callee is the last.
pub fn function_operands(instruction: InstructionValue<'_>) -> impl Iterator<Item = (u32, FunctionValue<'_>)> {
    // SAFETY: the instruction is live.
    let count = unsafe { LLVMGetNumOperands(instruction.as_value_ref()) }.cast_unsigned();
    (0..count).filter_map(move |index| {
        // SAFETY: the instruction is live, the index below its number of operands, and the operand a function.
        unsafe {
            let operand = LLVMGetOperand(instruction.as_value_ref(), index);
            if operand.is_null() || LLVMIsAFunction(operand).is_null() {
                return None;
            }
            Some((index, FunctionValue::new(operand)?))
        }
    })
}

/// The result as one number of single or double precision.
pub fn float_result(instruction: InstructionValue<'_>) -> Option<FloatValue<'_>> {
    // SAFETY: the instruction is live, and its value a float.
    unsafe {
        match LLVMGetTypeKind(LLVMTypeOf(instruction.as_value_ref())) {
            LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => {
                Some(FloatValue::new(instruction.as_value_ref()))
            }
            _ => None,
        }
    }
}

/// The blocks among an instruction's operands: where a terminator goes on.
pub fn block_operands(instruction: InstructionValue<'_>) -> Vec<BasicBlock<'_>> {
    instruction.get_operands().flatten().filter_map(inkwell::values::Operand::block).collect()
}

/// Puts another function of the same type in place of an operand that is a function.
pub fn set_function_operand<'ctx>(instruction: InstructionValue<'ctx>, index: u32, function: FunctionValue<'ctx>) {
    let is_function = function_operands(instruction).any(|(at, _)| at == index);
    assert!(is_function, "a function takes the place of a function");
    // SAFETY: both are live, the index is that of an operand, and functions are all of pointer type.
    unsafe { LLVMSetOperand(instruction.as_value_ref(), index, function.as_value_ref()) }
}

/// Takes `noinline` from a function and from every call of it.
pub fn allow_inlining(function: FunctionValue<'_>) {
    let kind = Attribute::get_named_enum_kind_id("noinline");
    function.remove_enum_attribute(AttributeLoc::Function, kind);
    for user in uses(&function) {
        if let Use::Instruction(call) = user
            && called_function(call) == Some(function)
            && let Ok(call) = CallSiteValue::try_from(call)
        {
            call.remove_enum_attribute(AttributeLoc::Function, kind);
        }
    }
}

/// Puts a second copy of some functions into a module, each under the name that `name` gives; the rest of the module stays
/// as it is. In the copies, calls of a copied function are calls of its copy.
pub fn copy_functions<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    name: impl Fn(&str) -> Option<String>,
) -> Result<(), ParseError> {
    // Only what is visible to the linker keeps its identity there.
    let mut hidden = Vec::new();
    for (count, global) in globals(module).enumerate() {
        if matches!(global.get_linkage(), Linkage::Internal | Linkage::Private) {
            if global.get_name().is_empty() {
                global.set_name(&format!("ptx.unnamed.{count}"));
            }
            hidden.push((global, global.get_linkage()));
        }
    }
    for function in functions(module).filter(|function| function.count_basic_blocks() > 0) {
        let global = function.as_global_value();
        if matches!(global.get_linkage(), Linkage::Internal | Linkage::Private) {
            hidden.push((global, global.get_linkage()));
        }
    }
    for (global, _) in &hidden {
        global.set_linkage(Linkage::External);
    }
    let copy = module.clone();
    for function in functions(&copy).filter(|function| function.count_basic_blocks() > 0) {
        match name(&function.get_name().to_string_lossy()) {
            Some(name) => function.as_global_value().set_name(&name),
            // The linker drops it in favour of the module's own.
            None => function.set_linkage(Linkage::LinkOnceODR),
        }
    }
    for global in globals(&copy) {
        match global.get_linkage() {
            // SAFETY: nothing refers to lists as `llvm.used`, and nobody else knows the copy's.
            Linkage::Appending => unsafe { super::delete_global(global) },
            _ if !global.is_declaration() => global.set_linkage(Linkage::LinkOnceODR),
            _ => {}
        }
    }
    let linked = bitcode::link(module, copy, context);
    for (global, linkage) in hidden {
        global.set_linkage(linkage);
    }
    linked
}

//! Walks over a module, and the facts about values that inkwell does not tell.

use std::collections::HashSet;
use std::path::PathBuf;

use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMDeleteFunction, LLVMDeleteGlobal, LLVMGEPGetNoWrapFlags, LLVMGEPSetNoWrapFlags,
    LLVMGetAsString, LLVMGetConstOpcode, LLVMGetDebugLocColumn, LLVMGetDebugLocDirectory, LLVMGetDebugLocFilename,
    LLVMGetDebugLocLine, LLVMGetElementType, LLVMGetFirstUse, LLVMGetGEPSourceElementType, LLVMGetIndices,
    LLVMGetInstructionOpcode, LLVMGetIntTypeWidth, LLVMGetIsDisjoint, LLVMGetMDString, LLVMGetNextUse,
    LLVMGetNumIndices, LLVMGetNumOperands, LLVMGetOperand, LLVMGetParamParent, LLVMGetPointerAddressSpace,
    LLVMGetPoison, LLVMGetTypeKind, LLVMGetUndef, LLVMGetUser, LLVMIsAArgument, LLVMIsAConstantAggregateZero,
    LLVMIsAConstantExpr, LLVMIsAConstantInt, LLVMIsAExtractValueInst, LLVMIsAFunction, LLVMIsAGetElementPtrInst,
    LLVMIsAGlobalVariable, LLVMIsAInstruction, LLVMIsConstant, LLVMIsConstantString, LLVMIsInBounds, LLVMIsUndef,
    LLVMReplaceAllUsesWith, LLVMSetExternallyInitialized, LLVMTypeOf,
};
use inkwell::llvm_sys::debuginfo::{LLVMGetSubprogram, LLVMSetSubprogram, LLVMStripModuleDebugInfo};
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMGEPFlagInBounds, LLVMGEPFlagNUW, LLVMGEPNoWrapFlags, LLVMOpcode, LLVMTypeKind};
use inkwell::types::AsTypeRef;
use inkwell::values::PhiValue;

use super::{
    AnyValue, AsValueRef, Attribute, AttributeLoc, BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context,
    FunctionValue, GlobalValue, InstructionOpcode, InstructionValue, IntValue, Module, PointerType, PointerValue,
};
use crate::diagnostic::Span;

/// The functions of a module, declarations too.
pub fn functions<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = FunctionValue<'ctx>> + use<'ctx> {
    module.get_functions()
}

/// The global variables of a module, declarations too.
pub fn globals<'ctx>(module: &Module<'ctx>) -> impl Iterator<Item = GlobalValue<'ctx>> + use<'ctx> {
    module.get_globals()
}

/// The instructions of a function.
pub fn instructions<'ctx>(function: FunctionValue<'ctx>) -> impl Iterator<Item = InstructionValue<'ctx>> {
    function.get_basic_block_iter().flat_map(|block| block.get_instructions())
}

/// Removes a global variable, which nothing in the module may use any more.
///
/// # Safety
/// The variable is freed: no copy of the handle may be used again.
pub unsafe fn delete_global(global: GlobalValue<'_>) {
    assert!(uses(&global).is_empty(), "a static that is used cannot go");
    // SAFETY: nothing in the module refers to it, and the caller gives up the handle.
    unsafe { LLVMDeleteGlobal(global.as_value_ref()) }
}

/// Removes a function, which nothing in the module may use any more.
///
/// # Safety
/// The function is freed: no copy of the handle may be used again, and none of its blocks and instructions.
pub unsafe fn delete_function(function: FunctionValue<'_>) {
    assert!(uses(&function).is_empty(), "a function that is used cannot go");
    // SAFETY: nothing in the module refers to it, and the caller gives up the handle.
    unsafe { LLVMDeleteFunction(function.as_value_ref()) }
}

/// Who uses a value.
#[derive(Clone, Copy, Debug)]
pub enum Use<'ctx> {
    /// An instruction that has it as an operand, directly or through constants.
    Instruction(InstructionValue<'ctx>),
    /// A static's initializer, directly or through constants.
    Global(GlobalValue<'ctx>),
}

/// Every instruction and static that uses `value`, also through constant expressions.
pub fn uses<'ctx>(value: &impl AnyValue<'ctx>) -> Vec<Use<'ctx>> {
    let mut found = Vec::new();
    let mut pending = vec![value.as_value_ref()];
    let mut seen: Vec<LLVMValueRef> = Vec::new();
    while let Some(value) = pending.pop() {
        // SAFETY: walks the use list of live values; the casts follow LLVM's own answer about each user's kind. A user is
        // of the same module, or of the same context, as what it uses.
        unsafe {
            let mut next = LLVMGetFirstUse(value);
            while !next.is_null() {
                let user = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                if !LLVMIsAInstruction(user).is_null() {
                    found.push(Use::Instruction(InstructionValue::new(user)));
                } else if !LLVMIsAGlobalVariable(user).is_null() {
                    found.push(Use::Global(GlobalValue::new(user)));
                } else if !seen.contains(&user) {
                    seen.push(user);
                    pending.push(user);
                }
            }
        }
    }
    found
}

/// The Rust source line that an instruction came from, if the bitcode has debug information.
pub fn source_span(instruction: InstructionValue<'_>) -> Option<Span> {
    // SAFETY: the instruction is live; the strings belong to its metadata and are copied.
    unsafe { span_of(instruction.as_value_ref(), LLVMGetDebugLocColumn(instruction.as_value_ref())) }
}

/// # Safety
/// `value` must be a live instruction, or a function with a subprogram.
unsafe fn span_of(value: LLVMValueRef, column: u32) -> Option<Span> {
    let text = |get: unsafe extern "C" fn(LLVMValueRef, *mut u32) -> *const libc::c_char| {
        let mut len = 0;
        // SAFETY: LLVM returns null or `len` bytes that live as long as the metadata.
        unsafe {
            let start = get(value, &mut len);
            if start.is_null() {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len as usize)).into_owned()
        }
    };
    // SAFETY: passed on from the caller.
    let line = unsafe { LLVMGetDebugLocLine(value) };
    let file = text(LLVMGetDebugLocFilename);
    if line == 0 || file.is_empty() {
        return None;
    }
    Some(Span { file: PathBuf::from(text(LLVMGetDebugLocDirectory)).join(file), line, column })
}

/// Detaches a function from its debug information, so that another function can have it.
pub fn clear_subprogram(function: FunctionValue<'_>) {
    // SAFETY: the function is live; null detaches.
    unsafe {
        if !LLVMGetSubprogram(function.as_value_ref()).is_null() {
            LLVMSetSubprogram(function.as_value_ref(), std::ptr::null_mut());
        }
    }
}

/// LLVM's number of the address space that a pointer points to.
pub fn address_space(pointer: PointerValue<'_>) -> u32 {
    address_space_of(pointer.get_type())
}

/// LLVM's number of the address space that pointers of that type point to.
pub fn address_space_of(ty: PointerType<'_>) -> u32 {
    // SAFETY: it is a pointer type.
    unsafe { LLVMGetPointerAddressSpace(ty.as_type_ref()) }
}

/// The number of the parameter that a value is.
pub fn param_index(value: impl AsValueRef) -> Option<usize> {
    // SAFETY: LLVM is asked for the parent of parameters alone.
    let function = unsafe {
        if LLVMIsAArgument(value.as_value_ref()).is_null() {
            return None;
        }
        FunctionValue::new(LLVMGetParamParent(value.as_value_ref()))?
    };
    function.get_param_iter().position(|param| param.as_value_ref() == value.as_value_ref())
}

/// Whether a value is a parameter that nobody writes through while the function runs, as LLVM is told of shared references.
pub fn is_shared_reference(function: FunctionValue<'_>, value: impl AsValueRef) -> bool {
    let Some(index) = param_index(value).and_then(|index| u32::try_from(index).ok()) else { return false };
    ["noalias", "readonly"].into_iter().all(|name| {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.get_enum_attribute(AttributeLoc::Param(index), kind).is_some()
    })
}

/// Whether an address is in what such a parameter refers to.
pub fn is_of_shared_reference<'ctx>(function: FunctionValue<'ctx>, address: BasicValueEnum<'ctx>) -> bool {
    use InstructionOpcode::{AddrSpaceCast, GetElementPtr, Phi};
    let (mut seen, mut pending) = (HashSet::new(), vec![address]);
    while let Some(root) = pending.pop() {
        if !seen.insert(root) {
            continue;
        }
        let from = instruction_of(root);
        match from.map(|from| (from, from.get_opcode())) {
            Some((from, GetElementPtr | AddrSpaceCast)) => {
                let Some(base) = from.get_operand(0).and_then(|operand| operand.value()) else { return false };
                pending.push(base);
            }
            // An address that a loop moves.
            Some((phi, Phi)) => {
                let Ok(phi) = PhiValue::try_from(phi) else { return false };
                pending.extend(phi.get_incomings().map(|(value, _)| value));
            }
            _ if !is_shared_reference(function, root) => return false,
            _ => {}
        }
    }
    true
}

/// The instruction that computes a value.
pub fn instruction_of(value: BasicValueEnum<'_>) -> Option<InstructionValue<'_>> {
    let value = value.as_value_ref();
    // SAFETY: the value is live, and LLVM said that it is an instruction.
    unsafe { (!LLVMIsAInstruction(value).is_null()).then(|| InstructionValue::new(value)) }
}

/// Whether a value is the same in every function.
pub fn is_constant(value: &impl AsValueRef) -> bool {
    // SAFETY: it is a live value.
    unsafe { LLVMIsConstant(value.as_value_ref()) != 0 }
}

/// The value that an instruction computes; it must be one that computes a value.
pub fn result(instruction: InstructionValue<'_>) -> BasicValueEnum<'_> {
    assert!(BasicTypeEnum::try_from(instruction.get_type()).is_ok(), "the instruction computes no value");
    // SAFETY: the instruction is live, and its type is that of a basic value.
    unsafe { BasicValueEnum::new(instruction.as_value_ref()) }
}

/// Has everything that uses an instruction's result use `by` in its place; both are of one type.
pub fn replace_uses<'ctx>(instruction: InstructionValue<'ctx>, by: BasicValueEnum<'ctx>) {
    let (old, new) = (instruction.as_value_ref(), by.as_value_ref());
    // SAFETY: both are live. LLVM itself checks only where it was built with assertions.
    unsafe {
        assert!(old != new && LLVMTypeOf(old) == LLVMTypeOf(new), "another value of the same type takes its place");
        LLVMReplaceAllUsesWith(old, new);
    }
}

/// Whether all of a constant is undefined.
pub fn is_undefined(value: &impl AsValueRef) -> bool {
    // SAFETY: it is a live value.
    unsafe { LLVMIsUndef(value.as_value_ref()) != 0 }
}

/// The undefined value of a type.
pub fn undefined(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    // SAFETY: the type is live, and the value is of that type.
    unsafe { BasicValueEnum::new(LLVMGetUndef(ty.as_type_ref())) }
}

/// A value of a type that means nothing, and for which nothing is written.
pub fn poison(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    // SAFETY: the type is live, and the value is of that type.
    unsafe { BasicValueEnum::new(LLVMGetPoison(ty.as_type_ref())) }
}

/// Says that a static holds something when a kernel starts, whatever its initializer: nothing is known of its contents.
pub fn set_externally_initialized(global: GlobalValue<'_>) {
    // SAFETY: it is live, and asked whether it is a variable: inkwell has functions under the same type.
    unsafe {
        assert!(!LLVMIsAGlobalVariable(global.as_value_ref()).is_null(), "functions hold nothing");
        LLVMSetExternallyInitialized(global.as_value_ref(), 1);
    }
}

/// `pointer + offset`, in bytes; it must stay within what the pointer points into, as the accesses there have to.
pub fn build_byte_offset<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    pointer: PointerValue<'ctx>,
    offset: IntValue<'ctx>,
) -> Result<PointerValue<'ctx>, BuilderError> {
    // SAFETY: inkwell fears constant indices into structs that do not exist; this indexes bytes.
    unsafe { builder.build_in_bounds_gep(context.i8_type(), pointer, &[offset], "") }
}

/// A static's address so many bytes on.
pub fn byte_of<'ctx>(context: &'ctx Context, start: PointerValue<'ctx>, offset: u64) -> PointerValue<'ctx> {
    let offset = context.i64_type().const_int(offset, false);
    // SAFETY: inkwell fears constant indices into structs that do not exist; this indexes bytes.
    unsafe { start.const_in_bounds_gep(context.i8_type(), &[offset]) }
}

/// An address so many bytes from another one, which may be outside of what that points into.
pub fn build_byte_distance<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    pointer: PointerValue<'ctx>,
    bytes: IntValue<'ctx>,
) -> Result<PointerValue<'ctx>, BuilderError> {
    // SAFETY: as in [`build_byte_offset`].
    unsafe { builder.build_gep(context.i8_type(), pointer, &[bytes], "") }
}

/// What a `getelementptr` adds, added to another pointer; without its promises, which are about its own.
pub fn build_same_offset<'ctx>(
    builder: &Builder<'ctx>,
    gep: InstructionValue<'ctx>,
    pointer: PointerValue<'ctx>,
) -> PointerValue<'ctx> {
    let copy = gep.explicit_clone();
    assert_eq!(copy.get_opcode(), InstructionOpcode::GetElementPtr, "another instruction adds to no pointer");
    assert!(copy.set_operand(0, pointer), "it begins at a pointer");
    // SAFETY: the copy is a live `getelementptr` in no block.
    unsafe { LLVMGEPSetNoWrapFlags(copy.as_value_ref(), 0) };
    builder.insert_instruction(&copy, None);
    result(copy).into_pointer_value()
}

/// Another element of the kind that a `getelementptr` with one index is about, of what another pointer points at; without
/// its promises.
pub fn build_other_element<'ctx>(
    builder: &Builder<'ctx>,
    gep: InstructionValue<'ctx>,
    pointer: PointerValue<'ctx>,
    index: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    assert_eq!(gep.get_num_operands(), 2, "it has one index");
    let element = build_same_offset(builder, gep, pointer);
    let written = instruction_of(element.into()).is_some_and(|element| element.set_operand(1, index));
    assert!(written, "it was just written");
    element
}

/// The integer that a pointer was made of.
pub fn address_of_integer<'ctx>(pointer: PointerValue<'ctx>) -> Option<IntValue<'ctx>> {
    let value = pointer.as_value_ref();
    // SAFETY: the value is live; its operand is asked for where it is a cast, whose operand is an integer.
    unsafe {
        let is_instruction = !LLVMIsAInstruction(value).is_null();
        let opcode = match (is_instruction, !LLVMIsAConstantExpr(value).is_null()) {
            (true, _) => LLVMGetInstructionOpcode(value),
            (_, true) => LLVMGetConstOpcode(value),
            _ => return None,
        };
        (opcode == LLVMOpcode::LLVMIntToPtr).then(|| IntValue::new(LLVMGetOperand(value, 0)))
    }
}

/// The pointer that an integer was made of.
pub fn pointer_of_integer<'ctx>(integer: IntValue<'ctx>) -> Option<PointerValue<'ctx>> {
    let value = integer.as_value_ref();
    // SAFETY: the value is live; its operand is asked for where it is a cast of a pointer, which is one value.
    unsafe {
        let is_cast = match (!LLVMIsAInstruction(value).is_null(), !LLVMIsAConstantExpr(value).is_null()) {
            (true, _) => LLVMGetInstructionOpcode(value) == LLVMOpcode::LLVMPtrToInt,
            (_, true) => LLVMGetConstOpcode(value) == LLVMOpcode::LLVMPtrToInt,
            _ => false,
        };
        is_cast.then(|| PointerValue::new(LLVMGetOperand(value, 0)))
    }
}

/// The global variable that a pointer is the start of, in whichever address space the pointer is.
pub fn global_of<'ctx>(pointer: PointerValue<'ctx>) -> Option<GlobalValue<'ctx>> {
    let mut value = pointer.as_value_ref();
    // SAFETY: the value is live, a cast has an operand, and LLVM said that it is a variable.
    unsafe {
        while !LLVMIsAConstantExpr(value).is_null() && LLVMGetConstOpcode(value) == LLVMOpcode::LLVMAddrSpaceCast {
            value = LLVMGetOperand(value, 0);
        }
        (!LLVMIsAGlobalVariable(value).is_null()).then(|| GlobalValue::new(value))
    }
}

/// Whether a constant pointer points into a global variable, or behind its end, in whichever address space.
pub fn is_within_global(pointer: PointerValue<'_>) -> bool {
    let mut value = pointer.as_value_ref();
    // SAFETY: the value is live; only a constant `getelementptr` is asked whether it stays within, and it has an operand,
    // as casts have.
    unsafe {
        while !LLVMIsAConstantExpr(value).is_null()
            && match LLVMGetConstOpcode(value) {
                LLVMOpcode::LLVMAddrSpaceCast => true,
                LLVMOpcode::LLVMGetElementPtr => LLVMIsInBounds(value) != 0,
                _ => false,
            }
        {
            value = LLVMGetOperand(value, 0);
        }
        !LLVMIsAGlobalVariable(value).is_null()
    }
}

/// The function that a pointer is.
pub fn function_of<'ctx>(pointer: PointerValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    let value = pointer.as_value_ref();
    // SAFETY: the value is live, and LLVM said that it is a function.
    unsafe { if LLVMIsAFunction(value).is_null() { None } else { FunctionValue::new(value) } }
}

/// How many bytes a `getelementptr` adds; `None` if it does not count bytes by a constant.
pub fn constant_offset(gep: InstructionValue<'_>) -> Option<u64> {
    let value = gep.as_value_ref();
    // SAFETY: the instruction is live, and asked for its type of element once it is known to have one.
    unsafe {
        if LLVMGetInstructionOpcode(value) != LLVMOpcode::LLVMGetElementPtr || LLVMGetNumOperands(value) != 2 {
            return None;
        }
        let element = LLVMGetGEPSourceElementType(value);
        let counts_bytes =
            LLVMGetTypeKind(element) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 8;
        let index = LLVMGetOperand(value, 1);
        (counts_bytes && !LLVMIsAConstantInt(index).is_null()).then(|| LLVMConstIntGetZExtValue(index))
    }
}

/// What a constant pointer begins at, and how many bytes it is behind that.
pub fn constant_place(pointer: PointerValue<'_>) -> (PointerValue<'_>, u64) {
    let value = pointer.as_value_ref();
    // SAFETY: the value is live; only a constant `getelementptr` is asked for its type of element and its operands, the first
    // of which is a pointer, as the whole is one.
    unsafe {
        if LLVMIsAConstantExpr(value).is_null()
            || LLVMGetConstOpcode(value) != LLVMOpcode::LLVMGetElementPtr
            || LLVMGetNumOperands(value) != 2
        {
            return (pointer, 0);
        }
        let (size, index) =
            (super::type_align(BasicTypeEnum::new(LLVMGetGEPSourceElementType(value))).0, LLVMGetOperand(value, 1));
        if LLVMIsAConstantInt(index).is_null() {
            return (pointer, 0);
        }
        (PointerValue::new(LLVMGetOperand(value, 0)), LLVMConstIntGetZExtValue(index).wrapping_mul(size))
    }
}

/// The pointer that a `getelementptr` with one index begins at, the bytes of an element, and which element it is.
pub fn element_of<'ctx>(gep: InstructionValue<'ctx>) -> Option<(PointerValue<'ctx>, u64, IntValue<'ctx>)> {
    let value = gep.as_value_ref();
    // SAFETY: the instruction is live, and asked for its type of element once it is known to have one. The first operand of
    // a `getelementptr` whose result is no vector is a pointer.
    unsafe {
        if LLVMGetInstructionOpcode(value) != LLVMOpcode::LLVMGetElementPtr
            || LLVMGetNumOperands(value) != 2
            || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMTypeKind::LLVMPointerTypeKind
        {
            return None;
        }
        let element = BasicTypeEnum::new(LLVMGetGEPSourceElementType(value));
        let (base, index) = (LLVMGetOperand(value, 0), LLVMGetOperand(value, 1));
        Some((PointerValue::new(base), super::type_align(element).0, IntValue::new(index)))
    }
}

/// The same of an address that may be some bytes behind an element's begin, `pairs[k].1`, and how many these are.
pub fn part_of_element<'ctx>(gep: InstructionValue<'ctx>) -> Option<(PointerValue<'ctx>, u64, IntValue<'ctx>, u64)> {
    let behind = || {
        let bytes = constant_offset(gep)?;
        let BasicValueEnum::PointerValue(begin) = gep.get_operand(0)?.value()? else { return None };
        element_of(instruction_of(begin.into())?).map(|(base, size, index)| (base, size, index, bytes))
    };
    behind().or_else(|| element_of(gep).map(|(base, size, index)| (base, size, index, 0)))
}

/// The instruction that makes a structure, and which of its parts an `extractvalue` takes.
pub fn part_of(extract: InstructionValue<'_>) -> Option<(InstructionValue<'_>, u32)> {
    let value = extract.as_value_ref();
    // SAFETY: the instruction is live, and asked for its indices once it is known to have some; its operand is live.
    unsafe {
        if LLVMIsAExtractValueInst(value).is_null() || LLVMGetNumIndices(value) != 1 {
            return None;
        }
        let (whole, index) = (LLVMGetOperand(value, 0), *LLVMGetIndices(value));
        (!LLVMIsAInstruction(whole).is_null()).then(|| (InstructionValue::new(whole), index))
    }
}

/// Whether a `getelementptr` says that it stays within what its pointer points into.
pub fn is_in_bounds(gep: InstructionValue<'_>) -> bool {
    let value = gep.as_value_ref();
    // SAFETY: the instruction is live; only a `getelementptr` is asked.
    unsafe { !LLVMIsAGetElementPtrInst(value).is_null() && LLVMIsInBounds(value) != 0 }
}

/// Whether a `getelementptr` also says that it goes up, so that its own pointer points into the same thing.
pub fn is_in_bounds_above(gep: InstructionValue<'_>) -> bool {
    const BOTH: LLVMGEPNoWrapFlags = LLVMGEPFlagInBounds | LLVMGEPFlagNUW;
    let value = gep.as_value_ref();
    // SAFETY: the instruction is live; only a `getelementptr` is asked.
    unsafe { !LLVMIsAGetElementPtrInst(value).is_null() && LLVMGEPGetNoWrapFlags(value) & BOTH == BOTH }
}

/// Whether two `getelementptr` promise the same of what does not wrap around.
pub fn promise_alike(one: InstructionValue<'_>, other: InstructionValue<'_>) -> bool {
    let (one, other) = (one.as_value_ref(), other.as_value_ref());
    // SAFETY: both instructions are live; only a `getelementptr` is asked.
    unsafe {
        !LLVMIsAGetElementPtrInst(one).is_null()
            && !LLVMIsAGetElementPtrInst(other).is_null()
            && LLVMGEPGetNoWrapFlags(one) == LLVMGEPGetNoWrapFlags(other)
    }
}

/// Whether an `or` says that no bit is set in both of its operands, so that it adds them.
pub fn is_disjoint(or: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is live; only an `or` is asked for its flag.
    unsafe { or.get_opcode() == InstructionOpcode::Or && LLVMGetIsDisjoint(or.as_value_ref()) != 0 }
}

/// Removes all debug information.
pub fn strip_debug_info(module: &Module<'_>) {
    // SAFETY: the module is live.
    unsafe { LLVMStripModuleDebugInfo(module.as_mut_ptr()) };
}

/// The bytes of a constant that is a string of `i8`; `None` for anything else.
pub fn constant_bytes(global: GlobalValue<'_>, path: &[u32]) -> Option<Vec<u8>> {
    let value = operand(global, path)?;
    // SAFETY: the value is live, and LLVM said that it is a string, whose bytes live as long and are copied.
    unsafe {
        if LLVMIsConstantString(value) == 0 {
            return None;
        }
        let mut len = 0;
        let start = LLVMGetAsString(value, &mut len);
        Some(std::slice::from_raw_parts(start.cast::<u8>(), len).to_vec())
    }
}

/// The function that the initializer's operand at `path` is.
pub fn constant_operand<'ctx>(global: GlobalValue<'ctx>, path: &[u32]) -> Option<FunctionValue<'ctx>> {
    let value = operand(global, path)?;
    // SAFETY: the value is live, and LLVM said that it is a function.
    unsafe { if LLVMIsAFunction(value).is_null() { None } else { FunctionValue::new(value) } }
}

/// The text without its final NUL that a pointer to a constant string points to.
pub fn constant_string(pointer: PointerValue<'_>) -> Option<String> {
    let mut value = pointer.as_value_ref();
    // SAFETY: walks from live constant expressions to their first operand, and asks a global alone for what it holds.
    let global = unsafe {
        while !LLVMIsAConstantExpr(value).is_null() {
            value = LLVMGetOperand(value, 0);
        }
        if LLVMIsAGlobalVariable(value).is_null() {
            return None;
        }
        GlobalValue::new(value)
    };
    let text = String::from_utf8(constant_bytes(global, &[])?).ok()?;
    Some(text.trim_end_matches('\0').to_string())
}

/// Whether an instruction computes with floats of more than 64 bits, also in vectors.
pub fn has_wide_float(instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is live, and so are its operands and all types.
    unsafe {
        let value = instruction.as_value_ref();
        let operands = 0..LLVMGetNumOperands(value).cast_unsigned();
        is_wide_float(LLVMTypeOf(value))
            || operands.into_iter().any(|at| is_wide_float(LLVMTypeOf(LLVMGetOperand(value, at))))
    }
}

/// # Safety
/// `ty` must be a live type.
unsafe fn is_wide_float(ty: LLVMTypeRef) -> bool {
    use LLVMTypeKind as Kind;
    // SAFETY: passed on from the caller; LLVM is asked for the elements of vectors alone.
    unsafe {
        match LLVMGetTypeKind(ty) {
            Kind::LLVMFP128TypeKind | Kind::LLVMX86_FP80TypeKind | Kind::LLVMPPC_FP128TypeKind => true,
            Kind::LLVMVectorTypeKind => is_wide_float(LLVMGetElementType(ty)),
            _ => false,
        }
    }
}

/// The text of a metadata string; `None` for any other metadata.
///
/// # Safety
/// `value` must be live metadata as a value.
pub(super) unsafe fn metadata_string(value: LLVMValueRef) -> Option<String> {
    let mut len = 0;
    // SAFETY: passed on; LLVM returns null or `len` bytes that live as long as the node, and they are copied.
    unsafe {
        let start = LLVMGetMDString(value, &mut len);
        if start.is_null() {
            return None;
        }
        Some(String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len as usize)).into_owned())
    }
}

fn operand(global: GlobalValue<'_>, path: &[u32]) -> Option<LLVMValueRef> {
    let mut value = global.get_initializer()?.as_value_ref();
    for &index in path {
        // SAFETY: the value is live and the index is checked against its number of operands.
        unsafe {
            if !LLVMIsAConstantAggregateZero(value).is_null() || index >= LLVMGetNumOperands(value).cast_unsigned() {
                return None;
            }
            value = LLVMGetOperand(value, index);
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::super::{Context, parse_ir};
    use super::*;

    const TEXT: &[u8] = b"
        @text = constant [3 x i8] c\"ab\\00\"
        @words = constant [2 x i16] [i16 1, i16 2]
        declare i32 @callee()
        define i32 @caller() {
          %result = call i32 @callee()
          store i32 %result, ptr null
          ret i32 %result
        }
    ";

    fn with_module(check: impl FnOnce(&Context, &Module<'_>)) {
        let context = Context::create();
        let module = parse_ir(&context, TEXT, "m").expect("the text is LLVM IR");
        check(&context, &module);
    }

    fn instruction<'ctx>(module: &Module<'ctx>, at: usize) -> InstructionValue<'ctx> {
        instructions(module.get_function("caller").expect("it is there")).nth(at).expect("it is there")
    }

    #[test]
    #[should_panic(expected = "a function that is used cannot go")]
    fn a_function_that_is_called_is_not_deleted() {
        with_module(|_, module| {
            let callee = module.get_function("callee").expect("it is there");
            // SAFETY: nobody looks at it again.
            unsafe { delete_function(callee) };
        });
    }

    #[test]
    #[should_panic(expected = "the instruction computes no value")]
    fn a_store_has_no_result() {
        with_module(|_, module| {
            result(instruction(module, 1));
        });
    }

    #[test]
    #[should_panic(expected = "another value of the same type takes its place")]
    fn only_a_value_of_the_same_type_takes_a_place() {
        with_module(|context, module| {
            replace_uses(instruction(module, 0), context.i64_type().const_zero().into());
        });
    }

    #[test]
    fn bytes_are_those_of_strings() {
        with_module(|_, module| {
            let bytes = |name: &str| constant_bytes(module.get_global(name).expect("it is there"), &[]);
            assert_eq!(bytes("text"), Some(b"ab\0".to_vec()));
            assert_eq!(bytes("words"), None);
        });
    }
}

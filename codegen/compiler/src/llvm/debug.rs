//! Debug records and debug locations: reading them, and giving variables other places.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::path::PathBuf;

use inkwell::builder::Builder;
use inkwell::context::{AsContextRef, ContextRef};
use inkwell::llvm_sys::LLVMDbgRecordKind;
use inkwell::llvm_sys::core::{
    LLVMArrayType2, LLVMBuildAlloca, LLVMBuildInBoundsGEP2, LLVMBuildLoad2, LLVMBuildStore, LLVMConstInt,
    LLVMDbgRecordGetDebugLoc, LLVMDbgRecordGetKind, LLVMDbgVariableRecordGetExpression, LLVMDbgVariableRecordGetValue,
    LLVMDbgVariableRecordGetVariable, LLVMDisposeMessage, LLVMGetFirstDbgRecord, LLVMGetMDNodeNumOperands,
    LLVMGetMDNodeOperands, LLVMGetMDString, LLVMGetNextDbgRecord, LLVMGetOperand, LLVMInstructionEraseFromParent,
    LLVMInt8TypeInContext, LLVMInt64TypeInContext, LLVMIsAAllocaInst, LLVMIsAGetElementPtrInst, LLVMMetadataAsValue,
    LLVMPointerTypeInContext, LLVMPrintValueToString, LLVMReplaceAllUsesWith, LLVMSetAlignment, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMCreateDIBuilderDisallowUnresolved, LLVMDIBuilderCreateAutoVariable, LLVMDIBuilderCreateDebugLocation,
    LLVMDIBuilderCreateExpression, LLVMDIBuilderCreateReferenceType, LLVMDIBuilderFinalize,
    LLVMDIBuilderInsertDeclareRecordBefore, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt, LLVMDILocationGetLine,
    LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDIVariableGetFile, LLVMDIVariableGetLine, LLVMDIVariableGetScope,
    LLVMDisposeDIBuilder, LLVMGetMetadataKind, LLVMGetSubprogram, LLVMInstructionGetDebugLoc,
    LLVMInstructionSetDebugLoc, LLVMMetadataKind,
};
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMDbgRecordRef, LLVMMetadataRef, LLVMValueRef};

use super::location::path_of;
use super::target::type_align;
use super::values::metadata_string;
use super::{
    AsValueRef, FunctionValue, InstructionOpcode, InstructionValue, Linkage, Module, Use, functions, instructions, uses,
};

/// `DW_TAG_reference_type`
const REFERENCE: u32 = 0x10;

/// A variable that an address expression reaches through memory, or that a register points to.
struct Indirect {
    before: LLVMValueRef,
    record: LLVMDbgRecordRef,
    steps: Vec<Step>,
}

/// A step from a value to the address of the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Load,
    Add(u64),
}

/// Gives variables that are reached through pointers a pointer of their own in the frame: a variable `x: T` at
/// `*(environment + 8)` becomes a reference `x: &T` on the stack. The old description stays.
///
/// Before: `#dbg_declare(ptr %env, !x, !DIExpression(DW_OP_deref, DW_OP_plus_uconst, 8, DW_OP_deref))`.
/// After: also `%p = load …; store ptr %p, ptr %slot; #dbg_declare(ptr %slot, !x_reference, !DIExpression())`.
pub fn make_references(module: &Module<'_>) {
    let context = module.get_context();
    for function in functions(module).filter(|function| function.count_basic_blocks() > 0) {
        let found: Vec<Indirect> = instructions(function).flat_map(indirect_variables).collect();
        if found.is_empty() {
            continue;
        }
        let builder = context.create_builder();
        for variable in found {
            // SAFETY: record and instruction are live; what is built stands before the instruction, where the value is known.
            unsafe { refer(context, module, function, &builder, &variable) };
        }
    }
}

/// Puts the parts of a variable that rustc keeps in stack slots of their own next to each other, as in the variable's type:
/// its place is one address then.
///
/// Before: `#dbg_declare(ptr %a, !x, !DIExpression(DW_OP_LLVM_fragment, 0, 64))`, and so for the other parts.
/// After: `%a` is an offset into one slot for the whole of `x`.
pub fn join_fragments(module: &Module<'_>) {
    let context = module.get_context();
    for function in functions(module).filter(|function| function.count_basic_blocks() > 0) {
        // In the order of their declarations: the same program has the same frame whenever it is compiled.
        let mut variables: Vec<Vec<Fragment>> = Vec::new();
        let mut known: HashMap<(LLVMMetadataRef, LLVMMetadataRef), usize> = HashMap::new();
        for instruction in instructions(function) {
            fragments(instruction, |key, fragment| {
                let at = *known.entry(key).or_insert_with(|| {
                    variables.push(Vec::new());
                    variables.len() - 1
                });
                variables[at].push(fragment);
            });
        }
        let mut joined = HashSet::new();
        for mut parts in variables {
            parts.sort_by_key(|part| part.offset);
            let apart = parts.windows(2).all(|pair| pair[0].offset + pair[0].size <= pair[1].offset);
            if apart && parts.iter().all(|part| joined.insert(part.slot)) {
                // SAFETY: the slots are live allocas of this function, and each is replaced once.
                unsafe { join(context, function, &parts) };
            }
        }
    }
}

/// A part of a variable, in bytes.
struct Fragment {
    slot: LLVMValueRef,
    offset: u64,
    size: u64,
}

/// Hands on the parts of variables that are declared just before an instruction, with the variable and the call that it was
/// inlined at.
fn fragments(instruction: InstructionValue<'_>, mut found: impl FnMut((LLVMMetadataRef, LLVMMetadataRef), Fragment)) {
    // SAFETY: the instruction is live, and records are asked for what their kind has.
    unsafe {
        for record in declares(instruction) {
            let slot = LLVMDbgVariableRecordGetValue(record, 0);
            let text = metadata_text(instruction, LLVMDbgVariableRecordGetExpression(record));
            if let Some((offset, size)) = fragment(&text).filter(|(_, size)| is_slot_of(slot, *size)) {
                let inlined_at = LLVMDILocationGetInlinedAt(LLVMDbgRecordGetDebugLoc(record));
                let key = (LLVMDbgVariableRecordGetVariable(record), inlined_at);
                found(key, Fragment { slot, offset, size });
            }
        }
    }
}

/// Offset and size in bytes of `!DIExpression(DW_OP_LLVM_fragment, 0, 64)`.
fn fragment(text: &str) -> Option<(u64, u64)> {
    let inner = text.split_once("!DIExpression(DW_OP_LLVM_fragment, ")?.1.split(')').next()?;
    let (offset, size) = inner.split_once(", ")?;
    let (offset, size): (u64, u64) = (offset.parse().ok()?, size.parse().ok()?);
    (offset % 8 == 0 && size % 8 == 0).then_some((offset / 8, size / 8))
}

/// Whether it is a stack slot of that many bytes, which may become part of another.
///
/// # Safety
/// `slot` must be null or live.
unsafe fn is_slot_of(slot: LLVMValueRef, size: u64) -> bool {
    // SAFETY: an alloca has an allocated type, which is sized; others are not asked.
    unsafe {
        if slot.is_null() || LLVMIsAAllocaInst(slot).is_null() {
            return false;
        }
        let slot = InstructionValue::new(slot);
        let ty = slot.get_allocated_type();
        // `llvm.lifetime.start` takes whole slots only.
        let named = uses(&slot).iter().any(|user| match user {
            Use::Instruction(user) => user.get_opcode() == InstructionOpcode::Call && is_lifetime(*user),
            Use::Global(_) => false,
        });
        ty.is_ok_and(|ty| type_align(ty).0 == size) && !named
    }
}

fn is_lifetime(call: InstructionValue<'_>) -> bool {
    let callee = call.get_num_operands().checked_sub(1).and_then(|last| call.get_operand(last));
    let callee = callee.and_then(|operand| operand.value());
    callee.is_some_and(|callee| callee.is_pointer_value() && callee.get_name().to_bytes().starts_with(b"llvm.lifetime"))
}

/// # Safety
/// The slots must be live allocas of `function`, and there must be one at least.
unsafe fn join(context: ContextRef<'_>, function: FunctionValue<'_>, parts: &[Fragment]) {
    let Some(first) = function.get_first_basic_block().and_then(|block| block.get_first_instruction()) else { return };
    let builder = context.create_builder();
    builder.position_before(&first);
    let bytes = parts.last().map_or(0, |last| last.offset + last.size);
    // SAFETY: as the caller promised; uses of the slots become uses of addresses within the new one.
    unsafe {
        let target = context.as_ctx_ref();
        let byte = LLVMInt8TypeInContext(target);
        let whole = LLVMBuildAlloca(raw(&builder), LLVMArrayType2(byte, bytes), c"".as_ptr());
        LLVMSetAlignment(whole, 16);
        for part in parts {
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(target), part.offset, 0);
            let place = LLVMBuildInBoundsGEP2(raw(&builder), byte, whole, &mut index, 1, c"".as_ptr());
            LLVMReplaceAllUsesWith(part.slot, place);
        }
        for part in parts {
            // The first instruction may be one of them; nothing is built after this.
            LLVMInstructionEraseFromParent(part.slot);
        }
    }
}

/// The variables declared just before an instruction whose place is no stack slot, or lies behind one.
fn indirect_variables(instruction: InstructionValue<'_>) -> Vec<Indirect> {
    let mut found = Vec::new();
    // SAFETY: the instruction is live, and records are asked for what their kind has.
    unsafe {
        for record in declares(instruction) {
            let value = LLVMDbgVariableRecordGetValue(record, 0);
            let text = metadata_text(instruction, LLVMDbgVariableRecordGetExpression(record));
            if let Some(steps) = steps(&text) {
                let on_stack = !value.is_null() && is_slot(value);
                if !value.is_null() && (!on_stack || steps.contains(&Step::Load)) && is_pointer(value) {
                    found.push(Indirect { before: instruction.as_value_ref(), record, steps });
                }
            }
        }
    }
    found
}

/// Whether a value is a stack slot, or an offset into one that [`join_fragments`] made.
///
/// # Safety
/// `value` must be live.
unsafe fn is_slot(value: LLVMValueRef) -> bool {
    // SAFETY: passed on; an address computation has a base.
    unsafe {
        let base = if LLVMIsAGetElementPtrInst(value).is_null() { value } else { LLVMGetOperand(value, 0) };
        !LLVMIsAAllocaInst(base).is_null()
    }
}

/// # Safety
/// `value` must be live.
unsafe fn is_pointer(value: LLVMValueRef) -> bool {
    use inkwell::llvm_sys::LLVMTypeKind;
    use inkwell::llvm_sys::core::{LLVMGetTypeKind, LLVMIsConstant, LLVMTypeOf};
    // SAFETY: passed on.
    unsafe {
        matches!(LLVMGetTypeKind(LLVMTypeOf(value)), LLVMTypeKind::LLVMPointerTypeKind) && LLVMIsConstant(value) == 0
    }
}

/// The steps of `!DIExpression(DW_OP_deref, DW_OP_plus_uconst, 8)`; `None` for what has other operations.
fn steps(text: &str) -> Option<Vec<Step>> {
    let inner = text.split_once("!DIExpression(")?.1.split(')').next()?;
    let mut words = inner.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut steps = Vec::new();
    while let Some(word) = words.next() {
        steps.push(match word {
            "DW_OP_deref" => Step::Load,
            "DW_OP_plus_uconst" => Step::Add(words.next()?.parse().ok()?),
            _ => return None,
        });
    }
    Some(steps)
}

/// # Safety
/// The record and the instruction must be live and of `function`.
unsafe fn refer(
    context: ContextRef<'_>,
    module: &Module<'_>,
    function: FunctionValue<'_>,
    builder: &Builder<'_>,
    variable: &Indirect,
) {
    let Some(first) = function.get_first_basic_block().and_then(|block| block.get_first_instruction()) else { return };
    // SAFETY: all handles are live, as the caller promised, and of one context.
    unsafe {
        let target = context.as_ctx_ref();
        let pointer = LLVMPointerTypeInContext(target, 0);
        builder.position_before(&first);
        let slot = LLVMBuildAlloca(raw(builder), pointer, c"".as_ptr());
        builder.position_before(&InstructionValue::new(variable.before));
        let mut address = LLVMDbgVariableRecordGetValue(variable.record, 0);
        for step in &variable.steps {
            address = match step {
                Step::Load => LLVMBuildLoad2(raw(builder), pointer, address, c"".as_ptr()),
                Step::Add(bytes) => {
                    let mut index = LLVMConstInt(LLVMInt64TypeInContext(target), *bytes, 0);
                    let byte = LLVMInt8TypeInContext(target);
                    LLVMBuildInBoundsGEP2(raw(builder), byte, address, &mut index, 1, c"".as_ptr())
                }
            };
        }
        LLVMBuildStore(raw(builder), address, slot);

        let old = LLVMDbgVariableRecordGetVariable(variable.record);
        let operands = operands(context, old);
        // DILocalVariable: scope, name, file, type, annotations (llvm/IR/DebugInfoMetadata.h).
        let (Some(Some(name)), Some(Some(ty))) = (operands.get(1).copied(), operands.get(3).copied()) else { return };
        let mut length = 0;
        let text = LLVMGetMDString(name, &mut length);
        let di = LLVMCreateDIBuilderDisallowUnresolved(module.as_mut_ptr());
        let ty = LLVMDIBuilderCreateReferenceType(di, REFERENCE, LLVMValueAsMetadata(ty));
        let scope = LLVMDIVariableGetScope(old);
        let (file, line) = (LLVMDIVariableGetFile(old), LLVMDIVariableGetLine(old));
        let new = LLVMDIBuilderCreateAutoVariable(di, scope, text, length as usize, file, line, ty, 1, 0, 0);
        let expression = LLVMDIBuilderCreateExpression(di, std::ptr::null_mut(), 0);
        let location = LLVMDbgRecordGetDebugLoc(variable.record);
        LLVMDIBuilderInsertDeclareRecordBefore(di, slot, new, expression, location, variable.before);
        LLVMDIBuilderFinalize(di);
        LLVMDisposeDIBuilder(di);
    }
}

fn raw(builder: &Builder<'_>) -> LLVMBuilderRef {
    builder.as_mut_ptr()
}

/// The operands of a node; `None` where it has none in that place.
///
/// # Safety
/// `node` must be a live node of `context`.
pub(super) unsafe fn operands(context: ContextRef<'_>, node: LLVMMetadataRef) -> Vec<Option<LLVMValueRef>> {
    // SAFETY: passed on; LLVM fills as many as it says that there are.
    unsafe {
        let value = LLVMMetadataAsValue(context.as_ctx_ref(), node);
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
        LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
        operands.into_iter().map(|operand| (!operand.is_null()).then_some(operand)).collect()
    }
}

/// # Safety
/// `node` must be live.
unsafe fn metadata_text(instruction: InstructionValue<'_>, node: LLVMMetadataRef) -> String {
    use inkwell::llvm_sys::core::{LLVMGetTypeContext, LLVMTypeOf};
    // SAFETY: passed on; an instruction's type has the context.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(instruction.as_value_ref()));
        value_text(LLVMMetadataAsValue(context, node))
    }
}

/// # Safety
/// `value` must be live.
unsafe fn value_text(value: LLVMValueRef) -> String {
    // SAFETY: passed on; the text is ours to dispose of.
    unsafe {
        let text = LLVMPrintValueToString(value);
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        owned
    }
}

/// Whether a function that others see was compiled with variables and types in its debug information, not with lines alone.
pub fn has_full_debug_info(module: &Module<'_>) -> bool {
    let context = module.get_context();
    let seen = functions(module).filter(|f| f.count_basic_blocks() > 0 && f.get_linkage() == Linkage::External);
    seen.into_iter().any(|function| {
        // SAFETY: the subprogram is live; its operands are those of llvm/IR/DebugInfoMetadata.h, the unit the sixth.
        unsafe {
            let subprogram = LLVMGetSubprogram(function.as_value_ref());
            if subprogram.is_null() {
                return false;
            }
            let Some(unit) = operands(context, subprogram).get(5).copied().flatten() else { return false };
            value_text(unit).contains("emissionKind: FullDebug")
        }
    })
}

/// The debug records before an instruction.
pub(super) fn records(instruction: InstructionValue<'_>) -> impl Iterator<Item = LLVMDbgRecordRef> {
    let or_none = |record: LLVMDbgRecordRef| (!record.is_null()).then_some(record);
    // SAFETY: the instruction is live.
    let first = or_none(unsafe { LLVMGetFirstDbgRecord(instruction.as_value_ref()) });
    // SAFETY: so are its records.
    std::iter::successors(first, move |record| or_none(unsafe { LLVMGetNextDbgRecord(*record) }))
}

/// Those of them that give a variable its place.
fn declares(instruction: InstructionValue<'_>) -> impl Iterator<Item = LLVMDbgRecordRef> {
    // SAFETY: a record of a live instruction.
    let is_declare = |record: &LLVMDbgRecordRef| unsafe {
        matches!(LLVMDbgRecordGetKind(*record), LLVMDbgRecordKind::LLVMDbgRecordDeclare)
    };
    records(instruction).filter(is_declare)
}

/// Where an instruction came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Column in the line that `.loc` names.
    pub column: u32,
    /// The calls that were inlined, from the innermost outwards.
    pub calls: Vec<Call>,
}

/// A call that was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What was called: the symbol.
    pub callee: String,
    /// The caller's file.
    pub file: PathBuf,
    /// The call's line in that file, from 1.
    pub line: u32,
    /// The call's column in that line, from 1.
    pub column: u32,
}

/// Numbers the debug locations of all instructions, from 1, and puts the number in the place of the column: LLVM writes
/// the column in `.loc`, and nothing of what was inlined. A column has 16 bits; what comes after has column 0.
pub fn number_locations(module: &Module<'_>) -> Vec<Origin> {
    let context = module.get_context();
    let mut origins = vec![Origin::default()];
    let mut known: HashMap<LLVMMetadataRef, LLVMMetadataRef> = HashMap::new();
    for function in functions(module).filter(|function| function.get_subprogram().is_some()) {
        for instruction in instructions(function) {
            // SAFETY: the instruction is live, and so are its location and all that hangs on it.
            unsafe {
                let old = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
                if old.is_null() {
                    continue;
                }
                let new = *known.entry(old).or_insert_with(|| {
                    let number = if origins.len() < usize::from(u16::MAX) { origins.len() as u32 } else { 0 };
                    if number > 0 {
                        origins.push(origin(context, old));
                    }
                    let (line, scope) = (LLVMDILocationGetLine(old), LLVMDILocationGetScope(old));
                    let inlined_at = LLVMDILocationGetInlinedAt(old);
                    LLVMDIBuilderCreateDebugLocation(context.as_ctx_ref(), line, number, scope, inlined_at)
                });
                LLVMInstructionSetDebugLoc(instruction.as_value_ref(), new);
            }
        }
    }
    origins
}

/// # Safety
/// `location` must be a live location of `context`.
unsafe fn origin(context: ContextRef<'_>, location: LLVMMetadataRef) -> Origin {
    let mut calls = Vec::new();
    // SAFETY: passed on; a location has a scope.
    unsafe {
        let column = LLVMDILocationGetColumn(location);
        let mut inner = location;
        loop {
            let site = LLVMDILocationGetInlinedAt(inner);
            if site.is_null() {
                return Origin { column, calls };
            }
            let file = path_of(LLVMDIScopeGetFile(LLVMDILocationGetScope(site)));
            calls.push(Call {
                callee: function_of(context, LLVMDILocationGetScope(inner)).unwrap_or_default(),
                file: file.unwrap_or_default(),
                line: LLVMDILocationGetLine(site),
                column: LLVMDILocationGetColumn(site),
            });
            inner = site;
        }
    }
}

/// The symbol of the function that a scope belongs to.
///
/// # Safety
/// `scope` must be a live scope of `context`.
unsafe fn function_of(context: ContextRef<'_>, mut scope: LLVMMetadataRef) -> Option<String> {
    // SAFETY: passed on; operands are those of llvm/IR/DebugInfoMetadata.h: blocks have file and scope, subprograms file,
    // scope, name and linkage name.
    unsafe {
        loop {
            let operands = operands(context, scope);
            match LLVMGetMetadataKind(scope) {
                LLVMMetadataKind::LLVMDISubprogramMetadataKind => {
                    let name = operands.get(3).copied().flatten().or(operands.get(2).copied().flatten())?;
                    return metadata_string(name);
                }
                LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind => {
                    scope = LLVMValueAsMetadata(operands.get(1).copied().flatten()?);
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, parse_ir};
    use super::*;

    /// Ten variables, each in two slots.
    fn fragmented() -> String {
        let mut text = String::from("define void @f() !dbg !2 {\n");
        let mut nodes = String::new();
        for variable in 0..10 {
            for part in 0..2 {
                text += &format!("  %v{variable}.{part} = alloca i64\n");
            }
            nodes += &format!("!{} = !DILocalVariable(name: \"v\", scope: !2, line: {variable})\n", 10 + variable);
        }
        for (variable, part) in (0..10).flat_map(|variable| [(variable, 0), (variable, 1)]) {
            let fragment = format!("!DIExpression(DW_OP_LLVM_fragment, {}, 64)", part * 64);
            text += &format!("    #dbg_declare(ptr %v{variable}.{part}, !{}, {fragment}, !3)\n", 10 + variable);
            text += &format!("  store i64 {variable}, ptr %v{variable}.{part}\n");
        }
        text + "  ret void\n}\n\
             !llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!4}\n\
             !0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: FullDebug)\n\
             !1 = !DIFile(filename: \"a.rs\", directory: \"/\")\n\
             !2 = distinct !DISubprogram(name: \"f\", file: !1, type: !5, spFlags: DISPFlagDefinition, unit: !0)\n\
             !3 = !DILocation(line: 1, scope: !2)\n!4 = !{i32 2, !\"Debug Info Version\", i32 3}\n\
             !5 = !DISubroutineType(types: !6)\n!6 = !{null}\n"
            + &nodes
    }

    #[test]
    fn a_frame_is_the_same_whenever_it_is_laid_out() {
        // The joined slots used to be in the random order of a hash table, and so the PTX.
        let joined = || {
            let context = Context::create();
            let module = parse_ir(&context, fragmented().as_bytes(), "m").expect("the text is LLVM IR");
            join_fragments(&module);
            module.verify().expect("the module is sound");
            module.print_to_string().to_string()
        };
        let first = joined();
        assert_eq!(first.matches("alloca [16 x i8]").count(), 10, "{first}");
        for _ in 0..5 {
            assert_eq!(joined(), first);
        }
    }

    #[test]
    fn expressions_are_steps() {
        assert_eq!(steps("!DIExpression()"), Some(vec![]));
        let expected = vec![Step::Load, Step::Add(8), Step::Load];
        assert_eq!(steps("!DIExpression(DW_OP_deref, DW_OP_plus_uconst, 8, DW_OP_deref)"), Some(expected));
        assert_eq!(steps("!DIExpression(DW_OP_LLVM_fragment, 0, 64)"), None);
        assert_eq!(fragment("!DIExpression(DW_OP_LLVM_fragment, 64, 32)"), Some((8, 4)));
        assert_eq!(fragment("!DIExpression(DW_OP_deref, DW_OP_LLVM_fragment, 64, 32)"), None);
    }
}

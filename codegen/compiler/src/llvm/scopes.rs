//! The scopes of instructions: which they belong to, and the order of blocks that keeps each in one piece.

use std::collections::{HashMap, HashSet};
use std::ptr;

use inkwell::context::{AsContextRef, ContextRef};
use inkwell::llvm_sys::core::{LLVMDbgRecordGetDebugLoc, LLVMMoveBasicBlockAfter, LLVMValueAsMetadata};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIBuilderCreateDebugLocation, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt, LLVMDILocationGetLine,
    LLVMDILocationGetScope, LLVMGetMetadataKind, LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc,
    LLVMMetadataKind,
};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;

use super::debug::{operands, records};
use super::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue, Module, functions, instructions};

/// The scopes of a function's code.
#[derive(Debug, Default)]
pub struct Scopes {
    /// Of each scope, the one around it, which has a smaller number.
    pub parents: Vec<Option<usize>>,
    /// Of each block, the scopes of its instructions.
    pub blocks: Vec<Vec<usize>>,
}

/// A scope, and the call that it was inlined by or null.
type Scope = (LLVMMetadataRef, LLVMMetadataRef);

/// The scopes of a function's instructions, block by block.
pub fn scopes_of_blocks(function: FunctionValue<'_>) -> Scopes {
    let context = function.get_type().get_context();
    let mut found = Scopes::default();
    let mut known = HashMap::new();
    for block in function.get_basic_block_iter() {
        let mut of_block = Vec::new();
        // Neither of these is code here; allocations are in the first block, wherever what they are for is.
        let is_code = |instruction: &InstructionValue<'_>| {
            !matches!(instruction.get_opcode(), InstructionOpcode::Alloca | InstructionOpcode::Phi)
        };
        for instruction in block.get_instructions().filter(is_code) {
            // SAFETY: the instruction is live, and so is its location.
            unsafe {
                let location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
                if !location.is_null() {
                    let scope = (LLVMDILocationGetScope(location), LLVMDILocationGetInlinedAt(location));
                    of_block.push(number(context, scope, &mut known, &mut found));
                }
            }
        }
        found.blocks.push(of_block);
    }
    found
}

/// The number of a scope; it and those around it get one where they have none.
///
/// # Safety
/// The scope and the call must be live, the latter or null, and of `context`.
unsafe fn number(
    context: ContextRef<'_>,
    scope: Scope,
    known: &mut HashMap<Scope, usize>,
    found: &mut Scopes,
) -> usize {
    if let Some(number) = known.get(&scope) {
        return *number;
    }
    let (inner, call) = scope;
    // SAFETY: passed on; a call has a scope.
    let outer = unsafe {
        match scopes(context, inner).get(1) {
            Some(outer) => Some((*outer, call)),
            None if call.is_null() => None,
            None => Some((LLVMDILocationGetScope(call), LLVMDILocationGetInlinedAt(call))),
        }
    };
    // SAFETY: passed on.
    let parent = outer.map(|outer| unsafe { number(context, outer, known, found) });
    let number = found.parents.len();
    found.parents.push(parent);
    known.insert(scope, number);
    number
}

/// Puts the blocks into an order: of each place, the number of the block that gets it. The first one must stay the first.
pub fn order_blocks(function: FunctionValue<'_>, order: &[usize]) {
    let blocks = function.get_basic_blocks();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..blocks.len()), "every block has one place");
    for pair in order.windows(2) {
        // SAFETY: both are live blocks of this function, and not the same.
        unsafe { LLVMMoveBasicBlockAfter(blocks[pair[1]].as_mut_ptr(), blocks[pair[0]].as_mut_ptr()) };
    }
}

/// Takes the place from the stores of constants that rustc puts before a function's first line, where their variables'
/// scopes have other code: `let text = "…";` in a function's middle would be what it begins with.
///
/// Before: `store ptr @text, ptr %slot, !dbg !1` and `#dbg_declare(ptr %slot, !text, !DIExpression(), !1)`.
/// After: the store has no `!dbg`, as those of arguments.
pub fn hide_constants(module: &Module<'_>) {
    let context = module.get_context();
    for function in functions(module).filter(|function| function.count_basic_blocks() > 0) {
        // SAFETY: all locations are those of live instructions and records, and of one context.
        unsafe {
            let declared: HashSet<_> =
                instructions(function).flat_map(records).map(|record| LLVMDbgRecordGetDebugLoc(record)).collect();
            let mut hidden = Vec::new();
            let mut filled = HashSet::new();
            for instruction in instructions(function) {
                let location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
                if location.is_null() {
                    continue;
                }
                let inlined_at = LLVMDILocationGetInlinedAt(location);
                let stores =
                    matches!(instruction.get_opcode(), InstructionOpcode::Store | InstructionOpcode::GetElementPtr);
                if stores && declared.contains(&location) {
                    hidden.push((instruction, (LLVMDILocationGetScope(location), inlined_at)));
                } else {
                    let scopes = scopes(context, LLVMDILocationGetScope(location));
                    filled.extend(scopes.into_iter().map(|scope| (scope, inlined_at)));
                }
            }
            for (instruction, _) in hidden.iter().filter(|(_, scope)| filled.contains(scope)) {
                LLVMInstructionSetDebugLoc(instruction.as_value_ref(), ptr::null_mut());
            }
        }
    }
}

/// Gives scopes that hold variables and no code the code that follows their variables: LLVM leaves out what has none.
///
/// Before: in `let sum = i + j; sum`, the return belongs to the function. After: it belongs to the scope of `sum`.
pub fn fill_scopes(module: &Module<'_>) {
    let context = module.get_context();
    for function in functions(module).filter(|function| function.count_basic_blocks() > 0) {
        // SAFETY: all locations are those of live instructions and records, and of one context.
        unsafe {
            let mut filled = HashSet::new();
            for instruction in instructions(function) {
                let location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
                if !location.is_null() {
                    let inlined_at = LLVMDILocationGetInlinedAt(location);
                    let scopes = scopes(context, LLVMDILocationGetScope(location));
                    filled.extend(scopes.into_iter().map(|scope| (scope, inlined_at)));
                }
            }
            for instruction in instructions(function) {
                for record in records(instruction) {
                    let location = LLVMDbgRecordGetDebugLoc(record);
                    let key = (LLVMDILocationGetScope(location), LLVMDILocationGetInlinedAt(location));
                    if filled.insert(key) {
                        extend_scope(context, instruction, key);
                    }
                }
            }
        }
    }
}

/// Moves an instruction and those after it in its block into a scope, as long as they belong to one around it.
///
/// # Safety
/// The scope and the location that it was inlined at must be live, the latter or null, and of `context`.
unsafe fn extend_scope(
    context: ContextRef<'_>,
    first: InstructionValue<'_>,
    (scope, inlined_at): (LLVMMetadataRef, LLVMMetadataRef),
) {
    // SAFETY: passed on.
    unsafe {
        let around = scopes(context, scope);
        let mut next = Some(first);
        while let Some(instruction) = next {
            let old = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
            if !old.is_null() {
                if LLVMDILocationGetInlinedAt(old) != inlined_at || !around.contains(&LLVMDILocationGetScope(old)) {
                    return;
                }
                let (line, column) = (LLVMDILocationGetLine(old), LLVMDILocationGetColumn(old));
                let new = LLVMDIBuilderCreateDebugLocation(context.as_ctx_ref(), line, column, scope, inlined_at);
                LLVMInstructionSetDebugLoc(instruction.as_value_ref(), new);
            }
            next = instruction.get_next_instruction();
        }
    }
}

/// Has the jump at the end of a block belong to the scope that it leaves, so that this ends behind it.
///
/// ptxas leaves out jumps, and a label before one is not kept; and where a loop's body ends in a jump with the line of the
/// `for`, a breakpoint there would stop at that, too. So a jump whose line other instructions have gets none of its own.
pub fn join_jumps(module: &Module<'_>) {
    let context = module.get_context();
    for function in functions(module).filter(|function| function.count_basic_blocks() > 0) {
        // SAFETY: all locations are those of live instructions, and of one context.
        unsafe {
            let lines: HashSet<_> = instructions(function)
                .filter(|instruction| !is_jump(*instruction))
                .map(|instruction| LLVMInstructionGetDebugLoc(instruction.as_value_ref()))
                .filter(|location| !location.is_null())
                .map(|location| line(context, location))
                .collect();
            for jump in function.get_basic_block_iter().filter_map(|block| block.get_terminator()) {
                let Some(last) = jump.get_previous_instruction().filter(|_| is_jump(jump)) else { continue };
                let [inner, outer] = [last, jump].map(|it| LLVMInstructionGetDebugLoc(it.as_value_ref()));
                if inner.is_null() || outer.is_null() {
                    continue;
                }
                let scope = LLVMDILocationGetScope(inner);
                let call = LLVMDILocationGetInlinedAt(inner);
                let around = scopes(context, scope).into_iter().skip(1).any(|it| it == LLVMDILocationGetScope(outer));
                if !around || call != LLVMDILocationGetInlinedAt(outer) {
                    continue;
                }
                let location = if lines.contains(&line(context, outer)) {
                    ptr::null_mut()
                } else {
                    let (line, column) = (LLVMDILocationGetLine(outer), LLVMDILocationGetColumn(outer));
                    LLVMDIBuilderCreateDebugLocation(context.as_ctx_ref(), line, column, scope, call)
                };
                LLVMInstructionSetDebugLoc(jump.as_value_ref(), location);
            }
        }
    }
}

/// Whether an instruction is a jump to one place.
fn is_jump(instruction: InstructionValue<'_>) -> bool {
    instruction.get_opcode() == InstructionOpcode::Br && instruction.get_num_operands() == 1
}

/// A location's line, its function, and the call that this was inlined by.
///
/// # Safety
/// `location` must be a live location of `context`.
unsafe fn line(context: ContextRef<'_>, location: LLVMMetadataRef) -> (u32, Option<LLVMMetadataRef>, LLVMMetadataRef) {
    // SAFETY: passed on.
    unsafe {
        let function = scopes(context, LLVMDILocationGetScope(location)).pop();
        (LLVMDILocationGetLine(location), function, LLVMDILocationGetInlinedAt(location))
    }
}

/// A scope and those around it, to the function.
///
/// # Safety
/// `scope` must be a live scope of `context`.
unsafe fn scopes(context: ContextRef<'_>, mut scope: LLVMMetadataRef) -> Vec<LLVMMetadataRef> {
    let mut found = vec![scope];
    // SAFETY: passed on; blocks have file and scope as operands.
    unsafe {
        while matches!(
            LLVMGetMetadataKind(scope),
            LLVMMetadataKind::LLVMDILexicalBlockMetadataKind | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
        ) {
            let Some(outer) = operands(context, scope).get(1).copied().flatten() else { break };
            scope = LLVMValueAsMetadata(outer);
            found.push(scope);
        }
    }
    found
}

//! Instructions for calls that were inlined, so that a debugger can stop at the call before it is in what is called.

use std::collections::HashSet;

use inkwell::context::{AsContextRef, ContextRef};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIBuilderCreateDebugLocation, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt, LLVMDILocationGetLine,
    LLVMDILocationGetScope, LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc,
};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;

use super::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue, Module, functions, instructions};

/// Puts an instruction with the place of the call before what was inlined of it. cuda-gdb shows the innermost of the
/// functions that begin at an address, and a breakpoint at a function whose first line is an inlined call, or at that line,
/// would not stop in that function.
///
/// The instruction is a volatile store: ptxas drops moves that do nothing from unoptimised code, too.
///
/// Before: `… !dbg !inner` where `!inner = !DILocation(…, inlinedAt: !call)`.
/// After: `store volatile i8 0, ptr %slot, !dbg !call`, and that.
pub fn mark_call_sites(module: &Module<'_>) {
    let context = module.get_context();
    for function in functions(module).filter(|function| function.get_subprogram().is_some()) {
        let mut known = HashSet::new();
        let mut sites: Vec<(InstructionValue<'_>, LLVMMetadataRef)> = Vec::new();
        for instruction in instructions(function) {
            if matches!(instruction.get_opcode(), InstructionOpcode::Phi | InstructionOpcode::Alloca) {
                continue;
            }
            let calls = calls(instruction);
            let new = calls.into_iter().filter(|call| known.insert(*call));
            sites.extend(new.map(|call| (instruction, call)));
        }
        if !sites.is_empty() {
            mark(context, function, &sites);
        }
    }
}

/// The calls that the instruction was inlined by, from the outermost inwards.
fn calls(instruction: InstructionValue<'_>) -> Vec<LLVMMetadataRef> {
    let mut calls = Vec::new();
    // SAFETY: the instruction is live, and so are its location and those that this was inlined at.
    unsafe {
        let mut location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
        while !location.is_null() {
            location = LLVMDILocationGetInlinedAt(location);
            calls.push(location);
        }
    }
    calls.retain(|call| !call.is_null());
    calls.reverse();
    calls
}

/// Stores before each instruction, with the location of the call.
fn mark(context: ContextRef<'_>, function: FunctionValue<'_>, sites: &[(InstructionValue<'_>, LLVMMetadataRef)]) {
    let Some(first) = function.get_first_basic_block().and_then(|block| block.get_first_instruction()) else { return };
    let builder = context.create_builder();
    let byte = context.i8_type();
    builder.position_before(&first);
    let Ok(slot) = builder.build_alloca(byte, "") else { return };
    for (before, call) in sites {
        builder.position_before(before);
        let Ok(store) = builder.build_store(slot, byte.const_zero()) else { return };
        // A store may be volatile.
        _ = store.set_volatile(true);
        // SAFETY: the call is a live location, and the new one has its parts.
        unsafe {
            let (line, column) = (LLVMDILocationGetLine(*call), LLVMDILocationGetColumn(*call));
            let (scope, inlined_at) = (LLVMDILocationGetScope(*call), LLVMDILocationGetInlinedAt(*call));
            let location = LLVMDIBuilderCreateDebugLocation(context.as_ctx_ref(), line, column, scope, inlined_at);
            LLVMInstructionSetDebugLoc(store.as_value_ref(), location);
        }
    }
}

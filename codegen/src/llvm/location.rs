//! Where instructions and statics stand in Rust source, through everything that was inlined.

use std::path::PathBuf;

use inkwell::llvm_sys::core::{
    LLVMDisposeValueMetadataEntries, LLVMGlobalCopyAllMetadata, LLVMGlobalSetMetadata, LLVMValueMetadataEntriesGetKind,
    LLVMValueMetadataEntriesGetMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDIGlobalVariableExpressionGetVariable, LLVMDILocationGetColumn,
    LLVMDILocationGetInlinedAt, LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile,
    LLVMDIVariableGetFile, LLVMDIVariableGetLine, LLVMGetMetadataKind, LLVMInstructionGetDebugLoc, LLVMMetadataKind,
};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;

use super::{AsValueRef, GlobalValue, InstructionValue};
use crate::diagnostic::Span;

/// The lines that an instruction came from: its own first, then the calls that were inlined, outwards.
pub fn inlined_spans(instruction: InstructionValue<'_>) -> Vec<Span> {
    let mut spans = Vec::new();
    // SAFETY: the instruction is live; LLVM's answers are live locations or null, and a location has a scope.
    unsafe {
        let mut location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
        while !location.is_null() {
            let line = LLVMDILocationGetLine(location);
            let column = LLVMDILocationGetColumn(location);
            let file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
            spans.extend(path_of(file).filter(|_| line > 0).map(|file| Span { file, line, column }));
            location = LLVMDILocationGetInlinedAt(location);
        }
    }
    spans
}

/// The user's line: the innermost that is not in `core` or the crate `ptx`.
pub fn user_span(instruction: InstructionValue<'_>) -> Option<Span> {
    let spans = inlined_spans(instruction);
    spans.iter().find(|span| !span.is_library()).or_else(|| spans.last()).cloned()
}

/// The line of a static, if the bitcode has full debug information.
pub fn static_span(global: GlobalValue<'_>) -> Option<Span> {
    let mut span = None;
    for_metadata(global, |_, node| {
        // SAFETY: the node is live, and asked for a variable only if it is the kind of node that has one.
        unsafe {
            if matches!(LLVMGetMetadataKind(node), LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind) {
                let variable = LLVMDIGlobalVariableExpressionGetVariable(node);
                let (file, line) = (path_of(LLVMDIVariableGetFile(variable)), LLVMDIVariableGetLine(variable));
                span = file.filter(|_| line > 0).map(|file| Span { file, line, column: 0 });
            }
        }
    });
    span
}

/// Gives `to` the metadata of `from`, its debug information above all.
pub fn copy_metadata(from: GlobalValue<'_>, to: GlobalValue<'_>) {
    for_metadata(from, |kind, node| {
        // SAFETY: both are live and of one context.
        unsafe { LLVMGlobalSetMetadata(to.as_value_ref(), kind, node) }
    });
}

fn for_metadata(global: GlobalValue<'_>, mut body: impl FnMut(u32, LLVMMetadataRef)) {
    let mut count = 0;
    // SAFETY: the global is live; LLVM returns `count` entries, which are ours to dispose of.
    unsafe {
        let entries = LLVMGlobalCopyAllMetadata(global.as_value_ref(), &mut count);
        for index in 0..u32::try_from(count).expect("a handful of attachments") {
            let kind = LLVMValueMetadataEntriesGetKind(entries, index);
            body(kind, LLVMValueMetadataEntriesGetMetadata(entries, index));
        }
        LLVMDisposeValueMetadataEntries(entries);
    }
}

/// # Safety
/// `file` must be null or a live file node.
pub(super) unsafe fn path_of(file: LLVMMetadataRef) -> Option<PathBuf> {
    if file.is_null() {
        return None;
    }
    let text = |get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const libc::c_char| {
        let mut len = 0;
        // SAFETY: LLVM returns null or `len` bytes that live as long as the node, and they are copied.
        unsafe {
            let start = get(file, &mut len);
            if start.is_null() {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len as usize)).into_owned()
        }
    };
    let name = text(LLVMDIFileGetFilename);
    (!name.is_empty()).then(|| PathBuf::from(text(LLVMDIFileGetDirectory)).join(name))
}

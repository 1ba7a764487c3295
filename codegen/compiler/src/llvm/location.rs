//! Where instructions and statics stand in Rust source, through everything that was inlined.

use std::path::PathBuf;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::core::{
    LLVMDisposeValueMetadataEntries, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetTypeContext,
    LLVMGlobalCopyAllMetadata, LLVMGlobalSetMetadata, LLVMMetadataAsValue, LLVMSetCurrentDebugLocation2, LLVMTypeOf,
    LLVMValueAsMetadata, LLVMValueMetadataEntriesGetKind, LLVMValueMetadataEntriesGetMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIBuilderCreateDebugLocation, LLVMDIFileGetDirectory, LLVMDIFileGetFilename,
    LLVMDIGlobalVariableExpressionGetVariable, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine, LLVMDIVariableGetFile,
    LLVMDIVariableGetLine, LLVMGetMetadataKind, LLVMGetSubprogram, LLVMInstructionGetDebugLoc, LLVMMetadataKind,
};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;

use super::values::metadata_string;
use super::{AsValueRef, BasicBlock, Builder, Context, FunctionValue, GlobalValue, InstructionValue};
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

/// The crate of the function that an instruction was written in, also where it was inlined into another since.
pub fn crate_of(instruction: InstructionValue<'_>) -> Option<String> {
    let function = instruction.get_parent().and_then(BasicBlock::get_parent)?;
    // SAFETY: the instruction is live; a location has a scope.
    let scope = unsafe {
        let location = LLVMInstructionGetDebugLoc(instruction.as_value_ref());
        if location.is_null() { None } else { Some(LLVMDILocationGetScope(location)) }
    };
    // SAFETY: the scope is that of a live location in the function.
    scope.and_then(|scope| unsafe { root_namespace(function, scope) }).or_else(|| crate_of_function(function))
}

/// The crate that a function was written in.
pub fn crate_of_function(function: FunctionValue<'_>) -> Option<String> {
    // SAFETY: the function is live.
    let scope = unsafe { LLVMGetSubprogram(function.as_value_ref()) };
    // SAFETY: a function's subprogram is a live scope of its context.
    let name = if scope.is_null() { None } else { unsafe { root_namespace(function, scope) } };
    if name.is_some() {
        return name;
    }
    // `<alloc::vec::Vec<T> as core::ops::Index<I>>::index`: of the type, for want of better.
    let path = format!("{:#}", rustc_demangle::demangle(&function.get_name().to_string_lossy()));
    let path = path.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    path.split_once("::").map(|(name, _)| name.to_string())
}

/// Where a function is defined, if the bitcode has debug information; the file as rustc names it in locations.
pub fn definition(function: FunctionValue<'_>) -> Option<Span> {
    // SAFETY: the function is live; a subprogram is a live scope, whose file may be null.
    let (line, file) = unsafe {
        let scope = LLVMGetSubprogram(function.as_value_ref());
        if scope.is_null() {
            return None;
        }
        (LLVMDISubprogramGetLine(scope), name_of(LLVMDIScopeGetFile(scope))?)
    };
    Some(Span { file: PathBuf::from(file), line, column: 1 })
}

/// Has a builder give what it builds the place where a function is defined, if that is known.
pub fn set_location_of_definition<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
) {
    // SAFETY: the function is live and of the context; a subprogram is a scope of it, in which its line lies.
    unsafe {
        let scope = LLVMGetSubprogram(function.as_value_ref());
        let location = if scope.is_null() {
            std::ptr::null_mut()
        } else {
            let line = LLVMDISubprogramGetLine(scope);
            LLVMDIBuilderCreateDebugLocation(context.as_ctx_ref(), line, 0, scope, std::ptr::null_mut())
        };
        LLVMSetCurrentDebugLocation2(builder.as_mut_ptr(), location);
    }
}

/// The outermost scope around a scope, which rustc names after the crate.
///
/// # Safety
/// `scope` must be a live scope of the function's context.
unsafe fn root_namespace(function: FunctionValue<'_>, mut scope: LLVMMetadataRef) -> Option<String> {
    // SAFETY: scopes are live nodes with the operands file, scope and, in namespaces, name; the numbers of operands are
    // checked, and texts are copied.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(function.as_value_ref()));
        loop {
            let node = LLVMMetadataAsValue(context, scope);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            let outer = operands.get(1).copied().filter(|outer| !outer.is_null());
            match outer.map(|outer| LLVMValueAsMetadata(outer)) {
                Some(outer) if !matches!(LLVMGetMetadataKind(outer), LLVMMetadataKind::LLVMDIFileMetadataKind) => {
                    scope = outer;
                }
                _ if matches!(LLVMGetMetadataKind(scope), LLVMMetadataKind::LLVMDINamespaceMetadataKind) => {
                    return metadata_string(operands.get(2).copied().filter(|name| !name.is_null())?);
                }
                _ => return None,
            }
        }
    }
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
pub fn copy_metadata<'ctx>(from: GlobalValue<'ctx>, to: GlobalValue<'ctx>) {
    // SAFETY: both are live.
    let [a, b] = [from, to].map(|global| unsafe { LLVMGetTypeContext(LLVMTypeOf(global.as_value_ref())) });
    assert_eq!(a, b, "both are of one context");
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
    // SAFETY: passed on from the caller; a node with a name is not null.
    unsafe {
        let name = name_of(file)?;
        Some(PathBuf::from(file_text(file, LLVMDIFileGetDirectory)).join(name))
    }
}

/// The name alone, which may lie below the directory.
///
/// # Safety
/// `file` must be null or a live file node.
unsafe fn name_of(file: LLVMMetadataRef) -> Option<String> {
    if file.is_null() {
        return None;
    }
    // SAFETY: it is a live file node.
    let name = unsafe { file_text(file, LLVMDIFileGetFilename) };
    (!name.is_empty()).then_some(name)
}

/// # Safety
/// `file` must be a live file node.
unsafe fn file_text(
    file: LLVMMetadataRef,
    get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const libc::c_char,
) -> String {
    let mut len = 0;
    // SAFETY: LLVM returns null or `len` bytes that live as long as the node, and they are copied.
    unsafe {
        let start = get(file, &mut len);
        if start.is_null() {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len as usize)).into_owned()
    }
}

//! Reading bitcode lazily, and linking of it only what is needed.

use std::ffi::CStr;
use std::mem::{MaybeUninit, forget};

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::{LLVMCloneModule, LLVMCreateMemoryBufferWithMemoryRange};
use inkwell::llvm_sys::linker::LLVMLinkModules2;

use super::errors::Errors;
use super::{Context, GlobalValue, Linkage, MemoryBuffer, Module, functions, globals};

/// What LLVM said of input that it cannot read.
#[derive(Debug)]
pub struct ParseError(pub String);

/// Reads the headers of a bitcode module; bodies are read when they are linked. `bytes` must stay in place as long as
/// the module lives, which the lifetime `'ctx` of both sees to.
pub fn parse_lazily<'ctx>(context: &'ctx Context, bytes: &'ctx [u8], name: &str) -> Result<Module<'ctx>, ParseError> {
    let errors = Errors::collect(context);
    let name = std::ffi::CString::new(name.replace('\0', "")).unwrap_or_default();
    let mut module = MaybeUninit::uninit();
    // SAFETY: the buffer does not own `bytes`, which outlive the module; on success LLVM takes the buffer over.
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(bytes.as_ptr().cast(), bytes.len(), name.as_ptr(), 0);
        if LLVMGetBitcodeModuleInContext2(context.as_ctx_ref(), buffer, module.as_mut_ptr()) != 0 {
            return Err(ParseError(errors.text()));
        }
        Ok(Module::new(module.assume_init()))
    }
}

/// A copy of a module in its context. inkwell's `clone` looks through the whole module first for what is not valid.
pub fn copy_module<'ctx>(module: &Module<'ctx>) -> Module<'ctx> {
    debug_assert!(module.verify().is_ok(), "LLVM copies valid modules alone: {:?}", module.verify());
    // SAFETY: LLVM makes a module of its own, in the same context, of the live one.
    unsafe { Module::new(LLVMCloneModule(module.as_mut_ptr())) }
}

/// Reads a whole module of bitcode.
pub fn read_bitcode<'ctx>(context: &'ctx Context, bytes: &[u8], name: &str) -> Result<Module<'ctx>, ParseError> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
    Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| ParseError(error.to_string()))
}

/// Reads textual IR.
pub fn parse_ir<'ctx>(context: &'ctx Context, bytes: &[u8], name: &str) -> Result<Module<'ctx>, ParseError> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
    context.create_module_from_ir(buffer).map_err(|error| ParseError(error.to_string()))
}

/// A module whose definitions are taken only as far as something refers to them.
pub struct Library<'ctx> {
    module: Module<'ctx>,
}

impl<'ctx> Library<'ctx> {
    /// Makes a library of `module`, keeping as roots the definitions for which `is_root` says so.
    pub fn new(module: Module<'ctx>, is_root: impl Fn(&str) -> bool) -> Self {
        let keep = |name: &CStr| name.to_str().is_ok_and(&is_root);
        for function in functions(&module) {
            let global = function.as_global_value();
            if !global.is_declaration() && !keep(function.get_name()) {
                make_optional(global);
            }
        }
        for global in globals(&module) {
            if !global.is_declaration() && !keep(global.get_name()) {
                make_optional(global);
            }
        }
        Self { module }
    }

    /// Links it into `destination`.
    pub fn link_into(self, destination: &Module<'ctx>, context: &'ctx Context) -> Result<(), ParseError> {
        link(destination, self.module, context)
    }
}

/// LLVM's linker takes `linkonce_odr` definitions only if the destination refers to them, and reads only the bodies it
/// takes; its flag for this (`LinkOnlyNeeded`) is missing in the C interface.
fn make_optional(definition: GlobalValue<'_>) {
    let visible = [Linkage::External, Linkage::WeakAny, Linkage::WeakODR, Linkage::LinkOnceAny];
    if visible.contains(&definition.get_linkage()) {
        definition.set_linkage(Linkage::LinkOnceODR);
    }
}

/// Moves everything of `source` into `destination`.
pub fn link<'ctx>(destination: &Module<'ctx>, source: Module<'ctx>, context: &'ctx Context) -> Result<(), ParseError> {
    let [a, b] = [destination.get_context(), source.get_context()].map(|context| context.as_ctx_ref());
    assert!(a == b && a == context.as_ctx_ref(), "modules of one context are linked");
    let errors = Errors::collect(context);
    // SAFETY: both modules are live, and of one context; LLVM consumes the source, so its owner is forgotten.
    let failed = unsafe { LLVMLinkModules2(destination.as_mut_ptr(), source.as_mut_ptr()) } != 0;
    forget(source);
    if failed { Err(ParseError(errors.text())) } else { Ok(()) }
}

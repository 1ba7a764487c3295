//! Puts statics into the address space that their section asks for, and holds shared ones to what a block has.
//!
//! ```text
//! before: @TILE = internal global [1024 x i8] undef, section ".ptx.shared", align 4
//!         … ptr @TILE …
//! after:  @TILE = internal addrspace(3) externally_initialized global [1024 x i8] undef, align 4
//!         … ptr addrspacecast (ptr addrspace(3) @TILE to ptr) …
//! ```
//!
//! A static that the host writes or reads keeps its value, is `externally_initialized`, too, and gets a symbol that the host
//! finds: `my_crate$TABLE` for `my_crate::TABLE`.
//!
//! A block's dynamic shared memory, which the crate `ptx` declares, becomes `.extern .shared`: the launch says how much it
//! is. The address of the record of panics, which `ptx-device` declares, is constant memory; `panics` defines it.
//!
//! `externally_initialized` because shared memory holds something when a block starts, if nothing in particular: a
//! read before the first write is no licence to assume whatever suits.

use std::collections::BTreeMap;

use crate::abi::Table;
use crate::callers;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AddressSpace, AnyTypeEnum, BasicType, BasicTypeEnum, Context, FunctionValue, GlobalValue, Linkage, Module,
    Use,
};

/// What the static shared memory of a kernel may take up (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability": more only if the launch asks for it).
const MAX_SHARED: u64 = 48 * 1024;

/// Moves the statics of our sections.
pub fn place<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let mut problems = Vec::new();
    for old in llvm::globals(module).collect::<Vec<_>>() {
        let is_dynamic = old.is_declaration() && old.get_name().to_bytes() == ptx_abi::DYNAMIC_SHARED.as_bytes();
        let is_record = old.is_declaration() && old.get_name().to_bytes() == ptx_abi::panic::SYMBOL.as_bytes();
        let (space, is_hosts) = match old.get_section().and_then(|section| section.to_str().ok()) {
            _ if is_dynamic => (llvm::SHARED_SPACE, false),
            _ if is_record => (llvm::CONSTANT_SPACE, false),
            Some(ptx_abi::SHARED_SECTION) => (llvm::SHARED_SPACE, false),
            Some(ptx_abi::CONSTANT_SECTION) => (llvm::CONSTANT_SPACE, false),
            Some(ptx_abi::HOST_CONSTANT_SECTION) => (llvm::CONSTANT_SPACE, true),
            Some(ptx_abi::GLOBAL_SECTION) => (llvm::GLOBAL_SPACE, true),
            _ => continue,
        };
        let Some(ty) = value_type(old) else { continue };
        if space == llvm::SHARED_SPACE
            && !is_dynamic
            && !old.get_initializer().is_some_and(|value| llvm::is_undefined(&value))
            && size(ty) > 0
        {
            problems.push(initialized(old));
            continue;
        }
        let name = match is_hosts {
            true => ptx_abi::symbol_of_static(&path(old)).collect(),
            false => old.get_name().to_string_lossy().into_owned(),
        };
        let new = module.add_global(ty, Some(AddressSpace::from(space)), "");
        new.set_alignment(if is_dynamic { ptx_abi::DYNAMIC_SHARED_ALIGN } else { old.get_alignment() });
        new.set_linkage(if is_dynamic || is_record { Linkage::External } else { Linkage::Internal });
        llvm::copy_metadata(old, new);
        match (space, old.get_initializer()) {
            (_, Some(value)) if is_hosts => {
                // The host looks for the name, and the value may be another when a kernel starts.
                new.set_linkage(Linkage::External);
                new.set_initializer(&value);
                llvm::set_externally_initialized(new);
            }
            (llvm::CONSTANT_SPACE, Some(value)) => {
                new.set_initializer(&value);
                new.set_constant(true);
            }
            _ if is_dynamic || is_record => {}
            _ => {
                new.set_initializer(&llvm::undefined(ty));
                llvm::set_externally_initialized(new);
            }
        }
        let generic = context.ptr_type(AddressSpace::from(0));
        old.as_pointer_value().replace_all_uses_with(new.as_pointer_value().const_address_space_cast(generic));
        // SAFETY: the new one is used in its place, and the old one's handle ends here.
        unsafe { llvm::delete_global(old) };
        new.set_name(&name);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Refuses kernels that reach more shared memory than a block has; after optimising, when what is unused has gone.
pub fn check(module: &Module<'_>, table: &Table) -> Result<()> {
    let mut kernels: BTreeMap<String, Vec<(u64, GlobalValue<'_>)>> = BTreeMap::new();
    let shared = |global: &GlobalValue<'_>| {
        llvm::address_space(global.as_pointer_value()) == u32::from(llvm::SHARED_SPACE) && !global.is_declaration()
    };
    for global in llvm::globals(module).filter(shared) {
        let Some(size) = value_type(global).map(size) else { continue };
        for kernel in kernels_that_reach(global) {
            kernels.entry(kernel.get_name().to_string_lossy().into_owned()).or_default().push((size, global));
        }
    }
    let mut problems = Vec::new();
    for (kernel, mut statics) in kernels {
        let total: u64 = statics.iter().map(|(size, _)| size).sum();
        if total <= MAX_SHARED {
            continue;
        }
        statics.sort_by_key(|(size, global)| (std::cmp::Reverse(*size), global.get_name().to_owned()));
        let message =
            format!("the kernel `{kernel}` has {total} bytes of shared statics, and a block has {MAX_SHARED}");
        let mut problem = Diagnostic::error(Code::SharedStatic, message);
        for (size, global) in statics.iter().take(3) {
            problem = match llvm::static_span(*global) {
                span @ Some(_) => problem.at(span, format!("{size} bytes")),
                // Only full debug information says where a static stands.
                None => {
                    let name = path(*global);
                    let used = callers::users(global, table).span;
                    let problem = problem.note(format!("`{name}` has {size} bytes"));
                    problem.at(used, format!("`{}` is used here", name.rsplit("::").next().unwrap_or(&name)))
                }
            };
        }
        problems
            .push(problem.help("make the arrays smaller, or take what is large as a `#[shared(dynamic)]` parameter"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn value_type(global: GlobalValue<'_>) -> Option<BasicTypeEnum<'_>> {
    Some(match global.get_value_type() {
        AnyTypeEnum::ArrayType(ty) => ty.into(),
        AnyTypeEnum::StructType(ty) => ty.into(),
        AnyTypeEnum::IntType(ty) => ty.into(),
        AnyTypeEnum::FloatType(ty) => ty.into(),
        AnyTypeEnum::PointerType(ty) => ty.into(),
        AnyTypeEnum::VectorType(ty) => ty.as_basic_type_enum(),
        _ => return None,
    })
}

fn size(ty: BasicTypeEnum<'_>) -> u64 {
    llvm::type_align(ty).0
}

fn initialized(global: GlobalValue<'_>) -> Diagnostic {
    Diagnostic::error(Code::SharedStatic, format!("the shared static `{}` has a value to begin with", path(global)))
        .at(llvm::static_span(global), "shared memory holds nothing in particular when a block starts")
        .help("declare it with `#[ptx::shared]`, which gives it no value, and write the first values in the kernel")
}

fn path(global: GlobalValue<'_>) -> String {
    format!("{:#}", rustc_demangle::demangle(&global.get_name().to_string_lossy()))
}

/// Kernels that use the static, through whatever functions and tables.
fn kernels_that_reach(global: GlobalValue<'_>) -> Vec<FunctionValue<'_>> {
    let mut kernels = Vec::new();
    let mut seen_functions: Vec<FunctionValue<'_>> = Vec::new();
    let mut seen_globals = vec![global];
    let mut pending = llvm::uses(&global);
    while let Some(user) = pending.pop() {
        match user {
            Use::Global(global) if !seen_globals.contains(&global) => {
                seen_globals.push(global);
                pending.extend(llvm::uses(&global));
            }
            Use::Instruction(instruction) => {
                let function = instruction.get_parent().and_then(|block| block.get_parent());
                let Some(function) = function.filter(|function| !seen_functions.contains(function)) else { continue };
                seen_functions.push(function);
                if function.get_call_conventions() == llvm::PTX_KERNEL {
                    kernels.push(function);
                }
                pending.extend(llvm::uses(&function));
            }
            Use::Global(_) => {}
        }
    }
    kernels
}

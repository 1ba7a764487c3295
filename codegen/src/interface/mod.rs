//! Reads the descriptors that `#[kernel]` left in the module, and takes them out of it.

use std::collections::BTreeMap;

use ptx_abi::decode::{OwnedDescriptor, decode};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::llvm::{self, FunctionValue, Module};

/// What the module offers to the outside.
pub struct Interface<'ctx> {
    /// In order of name.
    pub kernels: Vec<Kernel<'ctx>>,
    /// `extern "ptx-kernel"` functions, which rustc lowered itself; they have no descriptor.
    pub bare_kernels: Vec<FunctionValue<'ctx>>,
    /// Exported device functions.
    pub exports: Vec<FunctionValue<'ctx>>,
}

/// A kernel that `#[kernel]` described.
pub struct Kernel<'ctx> {
    /// What the macro said.
    pub descriptor: OwnedDescriptor,
    /// The function that takes a pointer for every parameter.
    pub shim: FunctionValue<'ctx>,
}

impl Kernel<'_> {
    /// Where the kernel is defined.
    pub fn span(&self) -> Span {
        let d = &self.descriptor;
        Span { file: d.file.clone().into(), line: d.line, column: d.column }
    }

    /// As in `demo::kernels::saxpy`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.descriptor.module_path, self.descriptor.name)
    }
}

/// Reads and removes every descriptor; `exports` are the names that rustc exports.
pub fn read<'ctx>(module: &Module<'ctx>, exports: &[String]) -> Result<Interface<'ctx>> {
    let mut kernels: BTreeMap<String, Kernel<'ctx>> = BTreeMap::new();
    let mut problems = Vec::new();
    let mut entries = Vec::new();
    for global in llvm::globals(module) {
        if global.get_section().is_none_or(|section| section.to_bytes() != ptx_abi::SECTION.as_bytes()) {
            continue;
        }
        entries.push(global);
        let name = global.get_name().to_string_lossy().into_owned();
        // `Entry` is `{ shim, bytes }`; see ptx-abi.
        let (Some(shim), Some(bytes)) = (llvm::constant_operand(global, &[0]), llvm::constant_bytes(global, &[1]))
        else {
            problems.push(bad_descriptor(&name, "it is not a function and bytes"));
            continue;
        };
        match decode(&bytes) {
            Err(error) => problems.push(bad_descriptor(&name, &error.to_string())),
            Ok(descriptor) => {
                let kernel = Kernel { descriptor, shim };
                problems.extend(bad_name(&kernel));
                let first = kernels.get(&kernel.descriptor.name);
                if let Some(first) = first {
                    problems.push(duplicate(first, &kernel));
                } else {
                    kernels.insert(kernel.descriptor.name.clone(), kernel);
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    // They served to keep the descriptors alive so far.
    for used in ["llvm.used", "llvm.compiler.used"] {
        module.get_global(used).into_iter().for_each(llvm::delete_global);
    }
    entries.into_iter().for_each(llvm::delete_global);
    let defined = |name: &String| module.get_function(name).filter(|f| f.count_basic_blocks() > 0);
    let (bare_kernels, exports) =
        exports.iter().filter_map(defined).partition(|function| function.get_call_conventions() == llvm::PTX_KERNEL);
    Ok(Interface { kernels: kernels.into_values().collect(), bare_kernels, exports })
}

fn bad_descriptor(symbol: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(Code::BadDescriptor, format!("cannot read the kernel descriptor `{symbol}`: {reason}"))
        .help("use the same version of the crate `ptx` and of ptx-codegen")
}

fn duplicate(first: &Kernel<'_>, second: &Kernel<'_>) -> Diagnostic {
    Diagnostic::error(Code::DuplicateKernel, format!("two kernels are named `{}`", first.descriptor.name))
        .at(Some(second.span()), format!("`{}` is defined here", second.path()))
        .at(Some(first.span()), format!("`{}` is defined here", first.path()))
        .help("rename one, or give it another name with `#[kernel(name = \"..\")]`")
}

/// PTX ISA, "Identifiers": ASCII letters, digits, `_` and `$`.
fn bad_name(kernel: &Kernel<'_>) -> Option<Diagnostic> {
    let name = &kernel.descriptor.name;
    let good = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
        && name.starts_with(|c: char| !c.is_ascii_digit());
    (!good).then(|| {
        Diagnostic::error(Code::Unsupported, format!("`{name}` cannot be a symbol in PTX"))
            .at(Some(kernel.span()), "PTX names have ASCII letters, digits, `_` and `$`")
            .help("give it another name with `#[kernel(name = \"..\")]`")
    })
}

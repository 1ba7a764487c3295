//! Reads the descriptors that `#[kernel]` and `#[device]` left in the module, and takes them out of it.

use std::collections::{BTreeMap, HashSet};

use ptx_abi::Kind;
use ptx_abi::decode::{OwnedDescriptor, decode};

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::llvm::{self, AsValueRef, FunctionValue, GlobalValue, Linkage, Module};

/// What the module offers to the outside, and what it asks of it.
pub struct Interface<'ctx> {
    /// In order of symbol.
    pub kernels: Vec<Described<'ctx>>,
    /// Device functions that others call, in order of symbol.
    pub exports: Vec<Described<'ctx>>,
    /// Device functions that others define, in order of symbol; one may be declared in several places.
    pub imports: Vec<Described<'ctx>>,
    /// `extern "ptx-kernel"` functions, which rustc lowered itself; they have no descriptor.
    pub bare_kernels: Vec<FunctionValue<'ctx>>,
    /// Exported device functions that rustc lowered itself.
    pub bare_exports: Vec<FunctionValue<'ctx>>,
}

/// A function that a macro described.
pub struct Described<'ctx> {
    /// What the macro said.
    pub descriptor: OwnedDescriptor,
    /// Its symbol in the PTX.
    pub symbol: String,
    /// The function that takes a pointer for the result and every parameter; see [`ptx_abi::Entry`].
    pub shim: FunctionValue<'ctx>,
}

impl Described<'_> {
    /// Where the function stands in the source.
    pub fn span(&self) -> Span {
        let d = &self.descriptor;
        Span { file: d.file.clone().into(), line: d.line, column: d.column }
    }

    /// As in `demo::kernels::saxpy`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.descriptor.module_path, self.descriptor.name)
    }

    /// What it is, in words.
    pub fn noun(&self) -> &'static str {
        match self.descriptor.kind {
            Kind::Kernel => "kernel",
            Kind::Export => "exported function",
            Kind::Import => "imported function",
        }
    }
}

impl<'ctx> Interface<'ctx> {
    /// Kernels and exports.
    pub fn definitions(&self) -> impl Iterator<Item = &Described<'ctx>> {
        self.kernels.iter().chain(&self.exports)
    }

    /// Nothing that anyone could call.
    pub fn is_empty(&self) -> bool {
        self.definitions().next().is_none() && self.bare_kernels.is_empty() && self.bare_exports.is_empty()
    }
}

/// Refuses kernels in clusters where a GPU has none: LLVM would leave the clusters out.
pub fn check(interface: &Interface<'_>, archs: &[Arch]) -> Result<()> {
    let Some(arch) = archs.iter().find(|arch| arch.number() < 90) else { return Ok(()) };
    let problems = interface.kernels.iter().filter_map(|kernel| {
        let bounds = kernel.descriptor.bounds;
        let what = match (bounds.cluster_blocks(), bounds.max_cluster) {
            (0, 0) => return None,
            (0, _) => "`launch_bounds` says how large clusters may be",
            _ => "`cluster` gives every launch clusters",
        };
        Some(
            Diagnostic::error(Code::OperationUnsupported, format!("{arch} has no clusters of blocks"))
                .at(Some(kernel.span()), "this needs sm_90")
                .note(what)
                .help("compile for sm_90 or later (`--arch sm_90`), or remove it and say `.cluster(..)` at the launch"),
        )
    });
    match problems.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        problems => Err(problems.into()),
    }
}

/// Reads and removes every descriptor; `exports` are the names that rustc exports.
pub fn read<'ctx>(module: &Module<'ctx>, exports: &[String]) -> Result<Interface<'ctx>> {
    let mut defined: BTreeMap<String, Described<'ctx>> = BTreeMap::new();
    let mut imports = Vec::new();
    let mut problems = Vec::new();
    let (mut entries, mut statics) = (Vec::new(), Statics::default());
    for global in llvm::globals(module) {
        if global.get_section().is_none_or(|section| section.to_bytes() != ptx_abi::SECTION.as_bytes()) {
            continue;
        }
        entries.push(global);
        let name = global.get_name().to_string_lossy().into_owned();
        let Some(Entry { shim, bytes }) = Entry::read(global, &mut statics) else {
            problems.push(bad_descriptor(&name, "it is not a function and pieces"));
            continue;
        };
        match decode(&bytes) {
            Err(error) => problems.push(bad_descriptor(&name, &error.to_string())),
            Ok(descriptor) => {
                let function = Described { symbol: descriptor.symbol(), descriptor, shim };
                problems.extend(bad_name(&function));
                if function.descriptor.kind == Kind::Import {
                    imports.push(function);
                } else if let Some(first) = defined.get(&function.symbol) {
                    problems.push(duplicate(first, &function));
                } else {
                    defined.insert(function.symbol.clone(), function);
                }
            }
        }
    }
    let bare = exports.iter().filter_map(|name| module.get_function(name).filter(|f| f.count_basic_blocks() > 0));
    let (bare_kernels, bare_exports): (Vec<_>, Vec<_>) =
        bare.partition(|function| function.get_call_conventions() == llvm::PTX_KERNEL);
    for function in bare_kernels.iter().chain(&bare_exports) {
        let name = function.get_name().to_string_lossy();
        problems.extend(defined.get(name.as_ref()).map(duplicate_of_bare));
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    // They served to keep the descriptors alive so far.
    for used in ["llvm.used", "llvm.compiler.used"] {
        // SAFETY: nothing refers to these lists, and the handle is looked up here.
        module.get_global(used).into_iter().for_each(|list| unsafe { llvm::delete_global(list) });
    }
    // SAFETY: only those lists referred to the descriptors, what was read of them are copies, and the handles end here.
    entries.into_iter().for_each(|entry| unsafe { llvm::delete_global(entry) });
    delete_unused(statics.lists);
    delete_unused(statics.pieces);
    imports.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    let (kernels, exports) = defined.into_values().partition(|f| f.descriptor.kind == Kind::Kernel);
    Ok(Interface { kernels, exports, imports, bare_kernels, bare_exports })
}

/// What a [`ptx_abi::Entry`] holds.
struct Entry<'ctx> {
    shim: FunctionValue<'ctx>,
    /// Of all pieces.
    bytes: Vec<u8>,
}

impl<'ctx> Entry<'ctx> {
    /// The statics of what was read are added to `statics`, the list before what it lists.
    fn read(global: GlobalValue<'ctx>, statics: &mut Statics<'ctx>) -> Option<Self> {
        let memory = llvm::constant_memory(global)?;
        let shim = llvm::function_of(memory.pointer(0)?)?;
        // A pointer has 8 bytes, a slice 16.
        let [own, place, list] = [8, 24, 40].map(|at| memory.slice(at));
        let list = list?;
        let parts = (0..list.len).map(|part| list.memory.slice(16 * part));
        let mut bytes = Vec::new();
        for piece in [own, place].into_iter().chain(parts) {
            let piece = piece?;
            bytes.extend(piece.bytes()?);
            statics.pieces.extend(piece.global);
        }
        statics.lists.extend(list.global);
        Some(Self { shim, bytes })
    }
}

/// What entries refer to.
#[derive(Default)]
struct Statics<'ctx> {
    lists: Vec<GlobalValue<'ctx>>,
    pieces: Vec<GlobalValue<'ctx>>,
}

/// Constants that the descriptors alone had; two may have had one.
fn delete_unused(statics: Vec<GlobalValue<'_>>) {
    let mut seen = HashSet::new();
    for global in statics.into_iter().filter(|global| seen.insert(global.as_value_ref())) {
        if llvm::uses(&global).is_empty() && global.get_linkage() == Linkage::Private {
            // SAFETY: nothing refers to it, each is looked at once, and the handles end here.
            unsafe { llvm::delete_global(global) };
        }
    }
}

fn bad_descriptor(symbol: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(Code::BadDescriptor, format!("cannot read the descriptor `{symbol}`: {reason}"))
        .help("use the same version of the crate `ptx` and of ptx-codegen")
}

fn duplicate(first: &Described<'_>, second: &Described<'_>) -> Diagnostic {
    let what = match (first.descriptor.kind, second.descriptor.kind) {
        (Kind::Kernel, Kind::Kernel) => "two kernels are",
        (Kind::Export, Kind::Export) => "two exported functions are",
        _ => "a kernel and an exported function are both",
    };
    Diagnostic::error(Code::DuplicateKernel, format!("{what} named `{}`", first.symbol))
        .at(Some(second.span()), format!("`{}` is defined here", second.path()))
        .at(Some(first.span()), format!("`{}` is defined here", first.path()))
        .help(
            "rename one, or give it another name with `#[kernel(name = \"..\")]` or `#[device(export, name = \"..\")]`",
        )
}

fn duplicate_of_bare(first: &Described<'_>) -> Diagnostic {
    Diagnostic::error(Code::DuplicateKernel, format!("two functions are named `{}`", first.symbol))
        .at(Some(first.span()), format!("`{}` is defined here", first.path()))
        .note("the other is exported with `#[no_mangle]` or `#[export_name]`")
        .help("rename one of them; a function with `#[kernel]` or `#[device(export)]` needs no `#[no_mangle]`")
}

/// PTX ISA, "Identifiers": ASCII letters, digits, `_` and `$`.
fn bad_name(function: &Described<'_>) -> Option<Diagnostic> {
    let name = &function.symbol;
    let good = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
        && name.starts_with(|c: char| !c.is_ascii_digit());
    (!good).then(|| {
        Diagnostic::error(Code::Unsupported, format!("`{name}` cannot be a symbol in PTX"))
            .at(Some(function.span()), "PTX names have ASCII letters, digits, `_` and `$`")
            .help("give it another name with `#[kernel(name = \"..\")]` or `#[device(export, name = \"..\")]`")
    })
}

//! Refuses what PTX does not have: undefined symbols, thread-locals, global constructors, unwinding
//! (PTX Writer's Guide to Interoperability, chapters 3 and 7).

use std::collections::BTreeMap;

use crate::abi::Table;
use crate::callers::{Users, demangled, place, users};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::llvm::{self, AnyValue, InstructionOpcode, Module};
use crate::request::Linking;
use crate::verify::cxx_rules;

/// Symbols that the module leaves to another linker, by name.
pub type Imports = BTreeMap<String, Import>;

/// A symbol that the module uses and does not define.
#[derive(Clone, Debug)]
pub struct Import {
    /// `function` or `static`.
    pub kind: &'static str,
    /// The declaration by `#[device(import)]`, or the first use that has a source line.
    pub span: Option<Span>,
    /// What stands there.
    pub label: &'static str,
    /// The calls through which a kernel reaches that use; none where `span` is a declaration.
    pub calls: Vec<(Span, String)>,
    /// Who uses it, in words.
    pub users: String,
}

/// Refuses features that GPUs do not have.
pub fn supported(module: &Module<'_>, table: &Table) -> Result<()> {
    let mut problems = Vec::new();
    for global in llvm::globals(module) {
        let name = global.get_name().to_string_lossy().into_owned();
        if global.is_thread_local() {
            let users = users(&global, table);
            problems.push(
                Diagnostic::error(Code::Unsupported, format!("`{}` is a thread-local static", demangled(&name)))
                    .at(users.span, "used here")
                    .at_calls(users.calls)
                    .note(format!("it is used by {}", users.names))
                    .note("GPUs have no thread-local statics")
                    .help("use a local variable, or memory indexed by the thread"),
            );
        }
        if name == "llvm.global_ctors" || name == "llvm.global_dtors" {
            problems.push(
                Diagnostic::error(
                    Code::Unsupported,
                    format!("the program has global constructors or destructors (`{name}`)"),
                )
                .note("nothing runs before or after a kernel (PTX Writer's Guide to Interoperability, chapter 7)")
                .help("initialise in a kernel, or with a constant; leave out the crate that registers constructors"),
            );
        }
    }
    for function in llvm::functions(module) {
        let unwinding = llvm::instructions(function).find(|instruction| {
            use InstructionOpcode as Op;
            matches!(
                instruction.get_opcode(),
                Op::Invoke | Op::LandingPad | Op::Resume | Op::CatchPad | Op::CatchSwitch | Op::CleanupPad
            )
        });
        if let Some(instruction) = unwinding {
            let name = demangled(&function.get_name().to_string_lossy());
            let place = place(instruction, table);
            problems.push(
                Diagnostic::error(Code::Unsupported, format!("`{name}` was compiled with unwinding"))
                    .at(place.span, "this may unwind")
                    .at_calls(place.calls)
                    .note("GPUs have no exceptions (PTX Writer's Guide to Interoperability, chapter 7)")
                    .help("compile every crate with `panic = \"abort\"`, the target's default"),
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// The symbols that nobody defines, without the driver's. Refuses them unless another linker comes after this one.
pub fn undefined_symbols(module: &Module<'_>, table: &Table, linking: Linking) -> Result<Imports> {
    let mut imports = Imports::new();
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() == 0 && f.get_intrinsic_id() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if !ptx_abi::SYSTEM_CALLS.contains(&name.as_str()) && name != ptx_abi::GRAPH_CALL {
            let declared = table.imports.iter().find(|import| import.name == name);
            let import = import(&function, "function", table).map(|import| match declared {
                Some(abi) => Import { span: Some(abi.span.clone()), label: "declared here", calls: vec![], ..import },
                None => import,
            });
            imports.extend(import.map(|import| (name, import)));
        }
    }
    for global in llvm::globals(module).filter(|g| g.is_declaration()) {
        let name = global.get_name().to_string_lossy().into_owned();
        // The launch gives it.
        if name == ptx_abi::DYNAMIC_SHARED {
            continue;
        }
        imports.extend(import(&global, "static", table).map(|import| (name, import)));
    }
    // Rust's own, such as the allocator's, are nobody else's to define.
    let refused = |name: &String| linking == Linking::None || name.starts_with("__rust_");
    let problems: Vec<_> =
        imports.iter().filter(|(name, _)| refused(name)).map(|(name, i)| undefined(name, i)).collect();
    if problems.is_empty() { Ok(imports) } else { Err(problems.into()) }
}

/// `None` if nothing uses the symbol.
fn import<'ctx>(symbol: &impl AnyValue<'ctx>, kind: &'static str, table: &Table) -> Option<Import> {
    if llvm::uses(symbol).is_empty() {
        return None;
    }
    let Users { span, calls, names } = users(symbol, table);
    Some(Import { kind, span, label: "used here", calls, users: names })
}

impl Import {
    /// The error that `name` is not defined, with its place; without advice.
    pub fn undefined(&self, name: &str) -> Diagnostic {
        let message = format!("undefined symbol: {} `{}`", self.kind, demangled(name));
        let diagnostic = Diagnostic::error(Code::UndefinedSymbol, message)
            .at(self.span.clone(), self.label)
            .at_calls(self.calls.clone())
            .note(format!("it is used by {}", self.users));
        match self.span {
            Some(_) => diagnostic,
            None => diagnostic.help("compile with `-C debuginfo=line-tables-only` to see the line"),
        }
    }
}

fn undefined(name: &str, import: &Import) -> Diagnostic {
    if let Some(rule) = cxx_rules::find(name) {
        let note = format!("{} (PTX Writer's Guide to Interoperability, chapter 7)", rule.excluded);
        return import.undefined(name).note(note).help(rule.instead);
    }
    let diagnostic = import
        .undefined(name)
        .note(format!("only {} may stay undefined: the driver has them", ptx_abi::SYSTEM_CALLS.join(", ")));
    match name {
        "__rust_alloc" | "__rust_dealloc" | "__rust_realloc" | "__rust_alloc_zeroed" => {
            diagnostic.help(
                "the program allocates memory: turn on the feature `allocator` of the crate `ptx`, or give it a `#[global_allocator]`",
            )
        }
        _ => diagnostic
            .help("define it in Rust, or remove the `extern` declaration")
            .help("if CUDA C++ defines it, name its file: `link = [\"kernels/twin.cu\"]` in `[package.metadata.ptx]`, or `--link FILE`"),
    }
}

//! Refuses what PTX does not have: undefined symbols, thread-locals, global constructors, unwinding
//! (PTX Writer's Guide to Interoperability, chapters 3 and 7).

use std::collections::BTreeSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::llvm::{self, AsValueRef, FunctionValue, InstructionOpcode, Module, Use};
use crate::verify::cxx_rules;

/// Refuses features that GPUs do not have.
pub fn supported(module: &Module<'_>) -> Result<()> {
    let mut problems = Vec::new();
    for global in llvm::globals(module) {
        let name = global.get_name().to_string_lossy().into_owned();
        if global.is_thread_local() {
            let (span, user) = first_use(&global);
            problems.push(
                Diagnostic::error(Code::Unsupported, format!("`{}` is a thread-local static", demangled(&name)))
                    .at(span, "used here")
                    .note(format!("it is used by {user}"))
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
            problems.push(
                Diagnostic::error(Code::Unsupported, format!("`{name}` was compiled with unwinding"))
                    .at(llvm::source_span(instruction), "this may unwind")
                    .note("GPUs have no exceptions (PTX Writer's Guide to Interoperability, chapter 7)")
                    .help("compile every crate with `panic = \"abort\"`, the target's default"),
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Refuses calls of functions that nobody defines; the driver's are allowed.
pub fn undefined_symbols(module: &Module<'_>) -> Result<()> {
    let mut problems = Vec::new();
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() == 0 && f.get_intrinsic_id() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if !ptx_abi::SYSTEM_CALLS.contains(&name.as_str()) {
            problems.extend(undefined(&function, &name, "function"));
        }
    }
    for global in llvm::globals(module).filter(|g| g.is_declaration()) {
        let name = global.get_name().to_string_lossy().into_owned();
        problems.extend(undefined(&global, &name, "static"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// `None` if nothing uses the symbol.
fn undefined(symbol: &impl AsValueRef, name: &str, kind: &str) -> Option<Diagnostic> {
    if llvm::uses(symbol).is_empty() {
        return None;
    }
    let (span, user) = first_use(symbol);
    let located = span.is_some();
    let rule = cxx_rules::find(name);
    let mut diagnostic =
        Diagnostic::error(Code::UndefinedSymbol, format!("undefined symbol: {kind} `{}`", demangled(name)))
            .at(span, "used here")
            .note(format!("it is used by {user}"))
            .note(match rule {
                Some(rule) => format!("{} (PTX Writer's Guide to Interoperability, chapter 7)", rule.excluded),
                None => format!("only {} may stay undefined: the driver has them", ptx_abi::SYSTEM_CALLS.join(", ")),
            });
    if !located {
        diagnostic = diagnostic.help("compile with `-C debuginfo=line-tables-only` to see the line");
    }
    Some(diagnostic.help(match name {
        _ if rule.is_some() => rule.map_or("", |rule| rule.instead),
        "__rust_alloc" | "__rust_dealloc" | "__rust_realloc" | "__rust_alloc_zeroed" => {
            "the program allocates memory: turn on the feature `allocator` of the crate `ptx`, or give it a `#[global_allocator]`"
        }
        _ => "define it in Rust, or remove the `extern` declaration; C and CUDA libraries are not linked here",
    }))
}

/// The source line of the first use that has one, and who uses the symbol in words.
fn first_use(symbol: &impl AsValueRef) -> (Option<Span>, String) {
    let mut span = None;
    let mut users = BTreeSet::new();
    for user in llvm::uses(symbol) {
        match user {
            Use::Instruction(instruction) => {
                span = span.or_else(|| llvm::source_span(instruction));
                let function = instruction.get_parent().and_then(|block| block.get_parent());
                users.extend(function.map(|f| name_of(f)));
            }
            Use::Global(global) => {
                users.insert(format!("the static `{}`", demangled(&global.get_name().to_string_lossy())));
            }
        }
    }
    (span, users.into_iter().collect::<Vec<_>>().join(", "))
}

fn name_of(function: FunctionValue<'_>) -> String {
    format!("`{}`", demangled(&function.get_name().to_string_lossy()))
}

fn demangled(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

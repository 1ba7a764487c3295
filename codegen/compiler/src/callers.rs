//! How kernels come to an instruction, or to use a symbol: its line, and that of every call on the way there.

use std::collections::{BTreeSet, VecDeque};

use ptx_abi::SHIM;

use crate::abi::{FunctionAbi, Table};
use crate::diagnostic::Span;
use crate::llvm::{self, AnyValue, FunctionValue, InstructionValue, Use};

/// The most calls that are shown.
const MOST: usize = 6;

/// Where an instruction stands.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its own line, if it has one.
    pub span: Option<Span>,
    /// The calls through which a kernel or an exported function comes there, outwards.
    pub calls: Vec<(Span, String)>,
}

/// Who uses a symbol.
#[derive(Clone, Debug, Default)]
pub struct Users {
    /// The line of the first use that has one.
    pub span: Option<Span>,
    /// The calls through which a kernel or an exported function reaches it, outwards.
    pub calls: Vec<(Span, String)>,
    /// All users, in words.
    pub names: String,
}

/// Who uses `symbol`.
pub fn users<'ctx>(symbol: &impl AnyValue<'ctx>, table: &Table) -> Users {
    let mut names = BTreeSet::new();
    let mut first = None;
    for user in llvm::uses(symbol) {
        match user {
            Use::Instruction(instruction) => {
                names.extend(function_of(instruction).map(|function| format!("`{}`", name(function))));
                if first.is_none() && !spans(instruction, table).is_empty() {
                    first = Some(instruction);
                }
            }
            Use::Global(global) => {
                names.insert(format!("the static `{}`", demangled(&global.get_name().to_string_lossy())));
            }
        }
    }
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let Place { span, calls } = first.map(|instruction| place(instruction, table)).unwrap_or_default();
    Users { span, calls, names }
}

/// Where `instruction` stands, and how kernels come there.
pub fn place(instruction: InstructionValue<'_>, table: &Table) -> Place {
    let mut spans = spans(instruction, table).into_iter();
    let span = spans.next();
    let mut calls: Vec<(Span, String)> = spans.map(|span| (span, "called here".into())).collect();
    if let Some(function) = function_of(instruction) {
        calls = way(function, calls, table);
    }
    calls.truncate(MOST);
    Place { span, calls }
}

/// The calls of the shortest way from a kernel or an exported function to those `inlined` into `function`, the last one
/// first.
fn way(function: FunctionValue<'_>, inlined: Vec<(Span, String)>, table: &Table) -> Vec<(Span, String)> {
    let mut seen = vec![function];
    let mut pending = VecDeque::from([(function, in_root(inlined.clone(), function, table))]);
    while let Some((function, calls)) = pending.pop_front() {
        if is_root(function, table) {
            return calls;
        }
        for user in llvm::uses(&function.as_global_value()) {
            let Use::Instruction(call) = user else { continue };
            let Some(caller) = function_of(call).filter(|caller| !seen.contains(caller)) else { continue };
            seen.push(caller);
            let mut calls: Vec<(Span, String)> = calls.clone();
            calls.extend(spans(call, table).into_iter().map(|span| (span, "called here".to_string())));
            pending.push_back((caller, in_root(calls, caller, table)));
        }
    }
    // It is called through pointers alone.
    inlined
}

/// Names the function of the last call, if that is where all begins.
fn in_root(mut calls: Vec<(Span, String)>, caller: FunctionValue<'_>, table: &Table) -> Vec<(Span, String)> {
    if let Some((_, label)) = calls.last_mut().filter(|_| is_root(caller, table)) {
        *label = format!("called here, in `{}`", name(caller));
    }
    calls
}

/// The program's own lines that an instruction came from: its own first, then the calls that were inlined, outwards.
fn spans(instruction: InstructionValue<'_>, table: &Table) -> Vec<Span> {
    let mut spans = llvm::inlined_spans(instruction);
    if spans.len() > 1 && function_of(instruction).is_some_and(|function| is_described(function, table)) {
        // The outermost call is that of the function in what the attribute made of it.
        spans.pop();
    }
    let own: Vec<Span> = spans.iter().filter(|span| !span.is_library()).cloned().collect();
    if own.is_empty() { spans.pop().into_iter().collect() } else { own }
}

fn function_of(instruction: InstructionValue<'_>) -> Option<FunctionValue<'_>> {
    instruction.get_parent()?.get_parent()
}

/// Whether it is what an attribute made of a function, or the shim that it made, where that is not yet inlined.
fn is_described(function: FunctionValue<'_>, table: &Table) -> bool {
    let symbol = function.get_name().to_string_lossy();
    let is_named = |described: &FunctionAbi| described.name == *symbol;
    table.kernels.iter().chain(&table.exports).any(is_named) || demangled(&symbol).ends_with(SHIM)
}

/// Whether it is called from outside.
fn is_root(function: FunctionValue<'_>, table: &Table) -> bool {
    let symbol = function.get_name().to_string_lossy();
    table.signatures.iter().any(|signature| signature.name == *symbol)
}

fn name(function: FunctionValue<'_>) -> String {
    demangled(&function.get_name().to_string_lossy())
}

/// A symbol as Rust or C++ writes it, or as it is.
pub fn demangled(symbol: &str) -> String {
    match rustc_demangle::try_demangle(symbol) {
        Ok(name) => format!("{name:#}"),
        // Else it takes the name `a` for a type: `signed char`.
        Err(_) if !symbol.starts_with("_Z") => symbol.to_string(),
        Err(_) => cpp_demangle::Symbol::new(symbol)
            .ok()
            .and_then(|name| name.demangle().ok())
            .unwrap_or_else(|| symbol.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn only_mangled_names_are_demangled() {
        for (symbol, name) in
            [("a", "a"), ("saxpy", "saxpy"), ("_Z3foox", "foo(long long)"), ("_RNvCs1234_7mycrate3foo", "mycrate::foo")]
        {
            assert_eq!(demangled(symbol), name);
        }
    }
}

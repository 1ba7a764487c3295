//! How kernels come to use a symbol: the line of the use, and of every call on the way there.

use std::collections::{BTreeSet, VecDeque};

use crate::abi::Table;
use crate::diagnostic::Span;
use crate::llvm::{self, AsValueRef, FunctionValue, InstructionValue, Use};
use crate::verify::demangled;

/// The most calls that are shown.
const MOST: usize = 6;

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
pub fn users(symbol: &impl AsValueRef, table: &Table) -> Users {
    let mut names = BTreeSet::new();
    let mut first: Option<(InstructionValue<'_>, Vec<Span>)> = None;
    for user in llvm::uses(symbol) {
        match user {
            Use::Instruction(instruction) => {
                names.extend(function_of(instruction).map(|function| format!("`{}`", name(function))));
                let spans = spans(instruction, table);
                if first.is_none() && !spans.is_empty() {
                    first = Some((instruction, spans));
                }
            }
            Use::Global(global) => {
                names.insert(format!("the static `{}`", demangled(&global.get_name().to_string_lossy())));
            }
        }
    }
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let Some((instruction, spans)) = first else { return Users { names, ..Users::default() } };
    let mut spans = spans.into_iter();
    let span = spans.next();
    let mut calls: Vec<(Span, String)> = spans.map(|span| (span, "called here".into())).collect();
    if let Some(function) = function_of(instruction) {
        calls.extend(way(function, table));
    }
    calls.truncate(MOST);
    Users { span, calls, names }
}

/// The calls of the shortest way from a kernel or an exported function, the last one first.
fn way(function: FunctionValue<'_>, table: &Table) -> Vec<(Span, String)> {
    let mut seen = vec![function];
    let mut pending = VecDeque::from([(function, Vec::new())]);
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
            if let Some((_, label)) = calls.last_mut().filter(|_| is_root(caller, table)) {
                *label = format!("called here, in `{}`", name(caller));
            }
            pending.push_back((caller, calls));
        }
    }
    // It is called through pointers alone.
    Vec::new()
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

/// Whether an attribute made a shim for it.
fn is_described(function: FunctionValue<'_>, table: &Table) -> bool {
    let symbol = function.get_name().to_string_lossy();
    table.kernels.iter().chain(&table.exports).any(|described| described.name == *symbol)
}

/// Whether it is called from outside.
fn is_root(function: FunctionValue<'_>, table: &Table) -> bool {
    let symbol = function.get_name().to_string_lossy();
    table.signatures.iter().any(|signature| signature.name == *symbol)
}

fn name(function: FunctionValue<'_>) -> String {
    demangled(&function.get_name().to_string_lossy())
}

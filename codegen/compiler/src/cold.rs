//! Keeps code that is rarely run or that many share small and in one copy.
//!
//! LLVM multiplies its inlining thresholds by 11 for NVPTX (`getInliningThresholdMultiplier`), because a call costs a
//! kernel registers and its arguments' way through memory. For what is hot that is right. But `core::fmt` and `alloc`'s
//! collections are large, a program has them in many places, and ptxas compiles what a kernel reaches for each kernel anew.
//!
//! ```text
//! before: define internal void @panics() {…}                          ; called where nothing follows
//!         define internal i1 @<user::Type as core::fmt::Debug>::fmt() {…}
//!         define internal void @insert() {…}                          ; large, and called from many places
//! after:  define internal void @panics() cold minsize optsize {…}
//!         define internal i1 @<user::Type as core::fmt::Debug>::fmt() minsize optsize {…}
//!         define internal void @insert() "function-inline-threshold"="225" {…}
//! ```
//!
//! It is advice for LLVM alone: what a program does is the same. `optsize` also keeps loops from being unrolled.

use std::collections::{HashMap, HashSet};

use crate::llvm::{
    self, Attribute, AttributeLoc, BasicBlock, Context, FunctionValue, InstructionOpcode, InstructionValue, Module,
    Unroll, Use,
};
use crate::loops::Graph;
use crate::request::OptLevel;

/// LLVM's attribute that stands for the threshold in front of the target's multiplier (`InlineCost.cpp`).
const THRESHOLD: &str = "function-inline-threshold";

/// What LLVM inlines for other targets.
const ORDINARY: &str = "225";

/// What LLVM inlines where code is to be small: hardly more than what a call takes.
const SMALL: &str = "25";

/// Instructions from which on a library's function that is called several times is large.
const LARGE: usize = 80;

/// Instructions that a program's own function may add to the module by being inlined everywhere.
const MOST_COPIED: usize = 20_000;

/// Marks functions of a module that is to be fast.
pub fn mark(context: &Context, module: &Module<'_>, level: OptLevel) {
    if !level.is_for_speed() {
        return;
    }
    let functions: Vec<_> = llvm::functions(module).filter(|f| f.count_basic_blocks() > 0).collect();
    let cold = cold(&functions);
    for &function in &functions {
        let path = path(function);
        if has(function, "alwaysinline") || has(function, "optnone") {
            continue;
        }
        if cold.contains(&function) {
            add(context, function, &["cold", "minsize", "optsize"]);
        } else if is_text(&path) {
            add(context, function, &["minsize", "optsize"]);
        }
        if is_called_for_digits(&path) {
            add(context, function, &["noinline"]);
        }
        let (size, calls) = (llvm::instructions(function).count(), calls_of(function).len());
        let threshold = if has(function, "optsize") {
            Some(SMALL)
        } else if calls > 1 && size >= LARGE && (is_of_library(&path) || size * (calls - 1) > MOST_COPIED) {
            Some(ORDINARY)
        } else {
            None
        };
        if let Some(threshold) = threshold {
            function.add_attribute(AttributeLoc::Function, context.create_string_attribute(THRESHOLD, threshold));
        }
    }
}

/// Keeps ptxas from unrolling loops of functions that are to be small.
pub fn keep_loops(context: &Context, module: &Module<'_>) {
    let small = llvm::functions(module).filter(|f| f.count_basic_blocks() > 0 && has(*f, "optsize"));
    for function in small {
        for found in Graph::of(function).innermost() {
            llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
        }
    }
}

/// Functions that are called only where nothing follows but the end of the launch, or from such functions.
fn cold<'ctx>(functions: &[FunctionValue<'ctx>]) -> HashSet<FunctionValue<'ctx>> {
    let mut doomed: HashMap<FunctionValue<'ctx>, HashSet<BasicBlock<'ctx>>> = HashMap::new();
    let mut cold: HashSet<FunctionValue<'ctx>> = HashSet::new();
    loop {
        let before = cold.len();
        for &function in functions.iter().filter(|function| !is_root(**function)) {
            if cold.contains(&function) {
                continue;
            }
            let is_cold = has(function, "cold") || has(function, "noreturn") || {
                let users = llvm::uses(&function.as_global_value());
                !users.is_empty()
                    && users.into_iter().all(|user| {
                        let Use::Instruction(call) = user else { return false };
                        let Some(block) = call.get_parent() else { return false };
                        let Some(caller) = block.get_parent() else { return false };
                        llvm::called_function(call) == Some(function)
                            && (cold.contains(&caller)
                                || doomed.entry(caller).or_insert_with(|| doomed_blocks(caller)).contains(&block))
                    })
            };
            if is_cold {
                cold.insert(function);
            }
        }
        if cold.len() == before {
            return cold;
        }
    }
}

/// Blocks from which all ways lead to `unreachable`.
fn doomed_blocks<'ctx>(function: FunctionValue<'ctx>) -> HashSet<BasicBlock<'ctx>> {
    let mut doomed = HashSet::new();
    loop {
        let before = doomed.len();
        for block in function.get_basic_block_iter() {
            let Some(end) = block.get_terminator() else { continue };
            let next = llvm::block_operands(end);
            let ends = end.get_opcode() == InstructionOpcode::Unreachable;
            if ends || !next.is_empty() && next.iter().all(|next| doomed.contains(next)) {
                doomed.insert(block);
            }
        }
        if doomed.len() == before {
            return doomed;
        }
    }
}

/// The calls of a function.
fn calls_of<'ctx>(function: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let users = llvm::uses(&function.as_global_value()).into_iter().filter_map(|user| match user {
        Use::Instruction(call) => Some(call),
        Use::Global(_) => None,
    });
    users.filter(|call| llvm::called_function(*call) == Some(function)).collect()
}

/// Whether it is called from outside.
fn is_root(function: FunctionValue<'_>) -> bool {
    !matches!(function.get_linkage(), llvm::Linkage::Internal | llvm::Linkage::Private)
}

/// Whether it makes text of values.
pub fn is_text(path: &str) -> bool {
    const MODULES: [&str; 6] = [
        "core::fmt::",
        "alloc::fmt::",
        "core::num::imp::bignum::",
        "core::num::imp::dec2flt::",
        "core::num::imp::flt2dec::",
        "core::num::imp::fmt::",
    ];
    let inner = path.trim_start_matches('<');
    MODULES.iter().any(|module| inner.starts_with(module)) || path.contains(" as core::fmt::")
}

/// Whether it finds the digits of a float. Each is called once, so LLVM would inline it however large it is, and one function
/// would then need the registers of all: 170 in place of 144 for `{:?}` of an `f32` (sm_90).
fn is_called_for_digits(path: &str) -> bool {
    path.starts_with("core::num::imp::flt2dec::strategy::")
        && ["::format_shortest", "::format_exact"].iter().any(|name| path.ends_with(name))
}

/// Whether it is a part of the standard library that is large and seldom what a kernel is about.
fn is_of_library(path: &str) -> bool {
    const MODULES: [&str; 4] = ["alloc::", "core::str::", "core::slice::sort::", "core::unicode::"];
    let inner = path.trim_start_matches('<');
    is_text(path) || MODULES.iter().any(|module| inner.starts_with(module))
}

fn path(function: FunctionValue<'_>) -> String {
    format!("{:#}", rustc_demangle::demangle(&function.get_name().to_string_lossy()))
}

fn has(function: FunctionValue<'_>, attribute: &str) -> bool {
    function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(attribute)).is_some()
}

fn add(context: &Context, function: FunctionValue<'_>, attributes: &[&str]) {
    for attribute in attributes {
        let kind = Attribute::get_named_enum_kind_id(attribute);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        define internal void @fails() { ret void }
        define internal void @fails_deeper() { ret void }
        define internal void @used() { ret void }
        define internal i1 @\"_RNvXs5_NtNtNtCs0_4core3fmt3num3implNtB9_7Display3fmt\"() { ret i1 true }
        define internal void @\"_RNvNtCs0_5alloc3vec4grow\"() { LINES ret void }
        define internal void @\"_RNvNtNtNtNtNtCs0_4core3num3imp7flt2dec8strategy6dragon12format_exact\"() { ret void }
        define internal void @\"_RNvNtNtNtNtCs0_4core3num3imp7flt2dec8strategy4help\"() { ret void }
        define internal void @\"_RNvNtCs0_4user4work\"() { LINES ret void }
        define ptx_kernel void @kernel(i1 %c) {
          call void @used()
          call void @\"_RNvNtCs0_5alloc3vec4grow\"()
          call void @\"_RNvNtCs0_5alloc3vec4grow\"()
          call void @\"_RNvNtCs0_4user4work\"()
          call void @\"_RNvNtCs0_4user4work\"()
          br i1 %c, label %end, label %bad
        bad:
          call void @used()
          call void @fails()
          br label %worse
        worse:
          unreachable
        end:
          ret void
        }";

    /// The kernel's functions, marked; `fails` calls another.
    fn marked(check: impl FnOnce(&dyn Fn(&str, &str) -> bool, &dyn Fn(&str) -> Option<String>)) {
        let context = Context::create();
        let lines = "call void asm sideeffect \"\", \"\"()\n".repeat(LARGE);
        let text = TEXT.replace("@fails() {", "@fails() { call void @fails_deeper()").replace("LINES", &lines);
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        mark(&context, &module, OptLevel::O3);
        let function = |part: &str| {
            let mut all = llvm::functions(&module);
            all.find(|function| function.get_name().to_string_lossy().ends_with(part)).unwrap()
        };
        let threshold = |part: &str| {
            let attribute = function(part).get_string_attribute(AttributeLoc::Function, THRESHOLD)?;
            Some(attribute.get_string_value().to_string_lossy().into_owned())
        };
        check(&|part, attribute| has(function(part), attribute), &threshold);
    }

    #[test]
    fn what_only_failures_call_is_cold() {
        marked(|has, _| {
            assert!(has("fails", "cold") && has("fails_deeper", "minsize"));
            assert!(!has("used", "cold") && !has("kernel", "optsize"));
        });
    }

    #[test]
    fn what_formats_is_small() {
        marked(|has, threshold| {
            assert!(has("7Display3fmt", "minsize") && !has("7Display3fmt", "cold"));
            assert_eq!(threshold("7Display3fmt").as_deref(), Some(SMALL));
        });
    }

    #[test]
    fn what_finds_a_floats_digits_stays_out_of_line() {
        marked(|has, _| assert!(has("format_exact", "noinline") && !has("4help", "noinline")));
    }

    #[test]
    fn large_functions_of_the_library_are_not_copied() {
        marked(|_, threshold| {
            assert_eq!(threshold("4grow").as_deref(), Some(ORDINARY));
            assert_eq!(threshold("4work"), None, "a program's own function is hot unless it grows the program much");
        });
    }
}

//! Who calls whom, as plain data.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::cold;
use crate::graph;
use crate::llvm::{
    self, Attribute, AttributeLoc, CallSiteValue, FunctionType, FunctionValue, InstructionOpcode, InstructionValue,
    Module, Use,
};
use crate::ptx_text;

/// The functions of a module that have bodies, and the calls among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub(super) functions: Vec<Function>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Function {
    /// As the PTX names it.
    pub name: String,
    /// Whether the host launches it.
    pub is_kernel: bool,
    /// Whether it looks for the stack's end when it begins.
    pub checks: bool,
    /// Bytes of its variables; registers that it saves come to it.
    pub variables: u64,
    /// Whether it never comes back, as what panics.
    pub never_returns: bool,
    /// Whether it makes text of values, as `core::fmt` does.
    pub is_text: bool,
    /// Functions that it calls by name.
    pub direct: Vec<usize>,
    /// Functions that it may call through pointers: those of the type whose address is taken.
    pub indirect: Vec<usize>,
}

impl Calls {
    /// The calls of a module; `checks` says which functions look for the stack's end.
    pub fn of(module: &Module<'_>, checks: impl Fn(FunctionValue<'_>) -> bool) -> Self {
        let bodies: Vec<FunctionValue<'_>> =
            llvm::functions(module).filter(|function| function.count_basic_blocks() > 0).collect();
        let numbers: HashMap<FunctionValue<'_>, usize> =
            bodies.iter().enumerate().map(|(number, function)| (*function, number)).collect();
        let with_address: Vec<(FunctionType<'_>, usize)> = (0..)
            .zip(&bodies)
            .filter(|(_, function)| is_address_taken(**function))
            .map(|(number, function)| (function.get_type(), number))
            .collect();
        let functions = bodies.iter().map(|&function| {
            let (mut direct, mut indirect) = (Vec::new(), Vec::new());
            for call in llvm::instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Call) {
                match llvm::called_function(call) {
                    Some(callee) => direct.extend(numbers.get(&callee)),
                    None => {
                        let Some(called) = pointer_type(call) else { continue };
                        indirect.extend(with_address.iter().filter(|(ty, _)| *ty == called).map(|(_, number)| number));
                    }
                }
            }
            for called in [&mut direct, &mut indirect] {
                let mut seen = vec![false; bodies.len()];
                called.retain(|number: &usize| !std::mem::replace(&mut seen[*number], true));
            }
            let slots = llvm::instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Alloca);
            Function {
                name: ptx_text::symbol(&function.get_name().to_string_lossy()),
                is_kernel: function.get_call_conventions() == llvm::PTX_KERNEL,
                checks: checks(function),
                never_returns: function
                    .get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("noreturn"))
                    .is_some(),
                is_text: cold::is_text(&format!(
                    "{:#}",
                    rustc_demangle::demangle(&function.get_name().to_string_lossy())
                )),
                variables: slots.filter_map(llvm::allocated_bytes).sum(),
                direct,
                indirect,
            }
        });
        Self { functions: functions.collect() }
    }

    /// Those of several modules in one, where no function of one calls another's.
    pub fn of_all(modules: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for module in modules {
            let before = all.functions.len();
            all.functions.extend(module.functions.into_iter().map(|mut function| {
                let called = function.direct.iter_mut().chain(&mut function.indirect);
                called.for_each(|number| *number += before);
                function
            }));
        }
        all
    }

    /// All functions that each may call.
    pub(super) fn successors(&self) -> Vec<Vec<usize>> {
        self.functions.iter().map(|f| f.direct.iter().chain(&f.indirect).copied().collect()).collect()
    }

    /// One function of every circle: those that a walk from the kernels meets while it is still within them.
    pub(super) fn entered_again(&self) -> Vec<usize> {
        let (kernels, others): (Vec<usize>, Vec<usize>) =
            (0..self.functions.len()).partition(|number| self.functions[*number].is_kernel);
        let mut targets: Vec<usize> = graph::back_edges(&self.successors(), kernels.into_iter().chain(others))
            .into_iter()
            .map(|edge| edge.1)
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

/// Whether anything but a call of it has a function's address.
fn is_address_taken(function: FunctionValue<'_>) -> bool {
    llvm::uses(&function.as_global_value()).into_iter().any(|user| match user {
        Use::Global(_) => true,
        Use::Instruction(user) => {
            llvm::called_function(user) != Some(function)
                || llvm::function_operands(user).filter(|(_, operand)| *operand == function).count() > 1
        }
    })
}

/// Whether nothing comes back to itself, has the address of a function, which it may leave in memory for another kernel, calls
/// by one, or makes text of values.
pub fn are_by_name(module: &Module<'_>) -> bool {
    let calls = Calls::of(module, |_| false);
    let mut defined = llvm::functions(module).filter(|function| function.count_basic_blocks() > 0);
    !calls.functions.iter().any(|function| function.is_text)
        && calls.entered_again().is_empty()
        && defined.all(|function| {
            let mut calls = llvm::instructions(function).filter(|i| i.get_opcode() == InstructionOpcode::Call);
            let is_by_address = |call| llvm::called_function(call).is_none() && pointer_type(call).is_some();
            !is_address_taken(function) && !calls.any(is_by_address)
        })
}

/// The type of the function that a call through a pointer calls.
fn pointer_type(call: InstructionValue<'_>) -> Option<FunctionType<'_>> {
    if llvm::inline_assembly(call).is_some() {
        return None;
    }
    Some(CallSiteValue::try_from(call).ok()?.get_called_fn_type())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Context;

    fn with_module<T>(text: &str, work: impl FnOnce(&Module<'_>) -> T) -> T {
        let context = Context::create();
        work(&llvm::parse_ir(&context, text.as_bytes(), "module").expect("the text is LLVM IR"))
    }

    #[test]
    fn calls_of_several_modules_are_those_of_one() {
        let of_a = "define ptx_kernel void @a() { call void @f() ret void } define internal void @f() { ret void }";
        let of_b = "define internal void @g() { ret void } define ptx_kernel void @b() { call void @g() ret void }";
        let calls = |text: &str| with_module(text, |module| Calls::of(module, |_| false));
        assert_eq!(Calls::of_all([calls(of_a), calls(of_b)]), calls(&format!("{of_a} {of_b}")));
    }

    #[test]
    fn what_goes_by_addresses_is_told_from_what_goes_by_names() {
        let text = "_RNvNtCs0_4core3fmt5write";
        let functions = [
            ("@f", "define internal i32 @f(i32 %x) noinline { ret i32 %x }".to_string()),
            ("@circle", "define internal i32 @circle(i32 %x) { %y = call i32 @circle(i32 %x) ret i32 %y }".to_string()),
            (text, format!("define internal void @{text}() noinline {{ ret void }}")),
        ];
        let by_name = |body: &str| {
            // What nothing uses has gone where this is asked.
            let used = functions.iter().filter(|(name, _)| body.contains(name)).map(|(_, text)| text.as_str());
            let kernel = format!("define ptx_kernel void @k(ptr %p, ptr %q) {{ {body} ret void }}");
            with_module(&used.chain([&*kernel]).collect::<Vec<_>>().join("\n"), are_by_name)
        };
        assert!(by_name("call i32 @f(i32 1) call void asm sideeffect \"bar.sync 0;\", \"\"()"));
        for body in
            ["store ptr @f, ptr %p", "call i32 %q(i32 1)", "call i32 @circle(i32 1)", &format!("call void @{text}()")]
        {
            assert!(!by_name(body), "{body}");
        }
    }
}

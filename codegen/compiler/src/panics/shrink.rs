//! Keeps small what is left of `core`'s panics.

use crate::llvm::{self, Attribute, AttributeLoc, Context, FunctionValue, InstructionOpcode, Module};

/// Lets panics with a constant message do without `core::fmt`, and keeps what runs once small.
///
/// `core` forbids that `panic_fmt` be inlined. Inlined with the handler into whatever panics, a constant message is seen
/// to be one, and the handler's branch that formats goes away. With `panic = "trap"` a library's panic of its own, which
/// asks not to be inlined, does nothing but trap: a call of it would cost a kernel registers, as every call does.
pub fn shrink(context: &Context, module: &Module<'_>) {
    let kind = Attribute::get_named_enum_kind_id;
    let attribute = |name| context.create_enum_attribute(kind(name), 0);
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
        let symbol = function.get_name().to_string_lossy().into_owned();
        let mangled = symbol.contains("panic_fmt") || symbol.contains("rust_begin_unwind");
        let path = if mangled { format!("{:#}", rustc_demangle::demangle(&symbol)) } else { String::new() };
        if path == "core::panicking::panic_fmt" || path == "__rustc::rust_begin_unwind" {
            // Not from calls: where LLVM does not optimise, a debugger shows the frame of who panics.
            for name in ["noinline", "cold"] {
                function.remove_enum_attribute(AttributeLoc::Function, kind(name));
            }
            function.add_attribute(AttributeLoc::Function, attribute("alwaysinline"));
        } else if only_traps(function) {
            llvm::allow_inlining(function);
            function.remove_enum_attribute(AttributeLoc::Function, kind("cold"));
            function.add_attribute(AttributeLoc::Function, attribute("alwaysinline"));
        } else if function.get_enum_attribute(AttributeLoc::Function, kind("cold")).is_some() {
            for name in ["minsize", "optsize"] {
                function.add_attribute(AttributeLoc::Function, attribute(name));
            }
        }
    }
}

fn only_traps(function: FunctionValue<'_>) -> bool {
    let is_trap =
        |instruction| llvm::called_function(instruction).is_some_and(|callee| callee.get_name() == c"llvm.trap");
    let optnone = Attribute::get_named_enum_kind_id("optnone");
    function.count_basic_blocks() == 1
        && function.get_enum_attribute(AttributeLoc::Function, optnone).is_none()
        && llvm::instructions(function).any(is_trap)
        && llvm::instructions(function)
            .all(|instruction| is_trap(instruction) || instruction.get_opcode() == InstructionOpcode::Unreachable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn what_only_traps_is_inlined() {
        let text = "declare void @llvm.trap()
            define internal void @traps() cold noinline { call void @llvm.trap() unreachable }
            define internal void @more(ptr %p) cold noinline { store i8 1, ptr %p call void @llvm.trap() unreachable }
            define internal void @slow() cold noinline optnone { call void @llvm.trap() unreachable }
            define void @caller() { call void @traps() noinline unreachable }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap();
        shrink(&context, &module);
        let is = |function: &str, attribute: &str| {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            module.get_function(function).unwrap().get_enum_attribute(AttributeLoc::Function, kind).is_some()
        };
        assert!(is("traps", "alwaysinline") && !is("traps", "noinline") && !is("traps", "cold"));
        assert!(!module.get_function("caller").unwrap().print_to_string().to_string().contains('#'));
        assert!(!is("slow", "alwaysinline") && is("slow", "noinline"));
        assert!(!is("more", "alwaysinline") && is("more", "noinline") && is("more", "minsize"));
    }
}

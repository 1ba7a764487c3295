//! Keeps small what is left of `core`'s panics.

use crate::llvm::{self, Attribute, AttributeLoc, Context, Module};

/// Lets panics with a constant message do without `core::fmt`, and keeps what runs once small.
///
/// `core` forbids that `panic_fmt` be inlined. Inlined with the handler into whatever panics, a constant message is seen
/// to be one, and the handler's branch that formats goes away.
pub fn shrink(context: &Context, module: &Module<'_>) {
    let kind = Attribute::get_named_enum_kind_id;
    let attribute = |name| context.create_enum_attribute(kind(name), 0);
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
        let symbol = function.get_name().to_string_lossy().into_owned();
        let mangled = symbol.contains("panic_fmt") || symbol.contains("rust_begin_unwind");
        let path = if mangled { format!("{:#}", rustc_demangle::demangle(&symbol)) } else { String::new() };
        if path == "core::panicking::panic_fmt" || path == "__rustc::rust_begin_unwind" {
            for name in ["noinline", "cold"] {
                function.remove_enum_attribute(AttributeLoc::Function, kind(name));
            }
            function.add_attribute(AttributeLoc::Function, attribute("alwaysinline"));
        } else if function.get_enum_attribute(AttributeLoc::Function, kind("cold")).is_some() {
            for name in ["minsize", "optsize"] {
                function.add_attribute(AttributeLoc::Function, attribute(name));
            }
        }
    }
}

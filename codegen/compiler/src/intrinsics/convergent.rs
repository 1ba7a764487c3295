//! Marks functions in which the threads of a warp do something together, such as a shuffle or a barrier.
//!
//! LLVM knows that its intrinsics for these are convergent: which threads come to one together must stay as it is. Of a
//! function that calls one it does not know that, since rustc says nothing of the kind; it might copy calls of it to places
//! where fewer threads are.

use std::collections::BTreeSet;

use crate::llvm::{self, Attribute, AttributeLoc, Context, FunctionValue, Module, Use};

/// Marks every function that calls something convergent, itself or through others.
pub fn mark(context: &Context, module: &Module<'_>) {
    let kind = Attribute::get_named_enum_kind_id("convergent");
    let is_marked = |function: &FunctionValue<'_>| function.get_enum_attribute(AttributeLoc::Function, kind).is_some();
    let mut pending: Vec<FunctionValue<'_>> = llvm::functions(module).filter(is_marked).collect();
    // Kernels have the mark from the start, without callers.
    let mut seen: BTreeSet<_> = pending.iter().map(|function| function.get_name().to_owned()).collect();
    while let Some(function) = pending.pop() {
        for user in llvm::uses(&function) {
            let Use::Instruction(call) = user else { continue };
            let Some(caller) = call.get_parent().and_then(|block| block.get_parent()) else { continue };
            if llvm::called_function(call) == Some(function) && seen.insert(caller.get_name().to_owned()) {
                caller.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
                pending.push(caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    #[test]
    fn callers_of_callers_are_marked_and_nobody_else() {
        let text = "
            declare void @llvm.nvvm.bar.warp.sync(i32)
            declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
            define void @wait() { call void @llvm.nvvm.bar.warp.sync(i32 -1) ret void }
            define void @outer() { call void @wait() ret void }
            define ptr @address() { ret ptr @wait }
            define i32 @lane() { %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid() ret i32 %l }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        mark(&context, &module);
        let kind = Attribute::get_named_enum_kind_id("convergent");
        let marked =
            |name| module.get_function(name).unwrap().get_enum_attribute(AttributeLoc::Function, kind).is_some();
        assert!(marked("wait") && marked("outer") && !marked("address") && !marked("lane"));
    }
}

//! The order in which LLVM lists who uses a value. Textual IR does not show it, but passes look at it.

use inkwell::llvm_sys::core::{
    LLVMGetNumOperands, LLVMGetOperand, LLVMIsAArgument, LLVMIsAInstruction, LLVMIsAPHINode, LLVMSetOperand,
    LLVMValueIsBasicBlock,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::{AsValueRef, Module, functions, instructions};

/// Lists the uses of every phi as if they had been built in the function's order; LLVM puts each new one at the front.
///
/// ```text
/// before  %phi is used by %a, %c, %b        after  %phi is used by %c, %b, %a
/// ```
pub fn sort_phi_uses(module: &Module<'_>) {
    // SAFETY: LLVM is asked of what kind an operand is.
    sort(module, |value| unsafe { !LLVMIsAPHINode(value).is_null() });
}

/// The same for all that belongs to a function: parameters, blocks and instructions. The list is then the same whatever became of
/// the module on its way.
pub fn sort_uses(module: &Module<'_>) {
    // SAFETY: LLVM is asked of what kind an operand is.
    sort(module, |value| unsafe {
        !LLVMIsAInstruction(value).is_null() || !LLVMIsAArgument(value).is_null() || LLVMValueIsBasicBlock(value) != 0
    });
}

fn sort(module: &Module<'_>, is_sorted: impl Fn(LLVMValueRef) -> bool) {
    for user in functions(module).flat_map(instructions) {
        // SAFETY: the operand's number is less than their count, and the operand stays the same: LLVM only takes the use
        // off the value's list and puts it back, at the front.
        unsafe {
            for index in 0..LLVMGetNumOperands(user.as_value_ref()).cast_unsigned() {
                let value = LLVMGetOperand(user.as_value_ref(), index);
                if is_sorted(value) {
                    LLVMSetOperand(user.as_value_ref(), index, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, Use, parse_ir, uses};
    use super::*;

    /// The users of the phi in their order, by name, for uses that were read in that order.
    fn users(order: &str, sorted: bool) -> String {
        let text = format!(
            "define i32 @f(i32 %x) {{\nentry:\n  br label %next\nnext:\n  %phi = phi i32 [ %x, %entry ]\n  \
             %a = add i32 %phi, 1\n  %b = add i32 %phi, 2\n  %c = add i32 %phi, 3\n  %d = add i32 %a, %b\n  \
             %e = add i32 %c, %d\n  ret i32 %e\n  {order}\n}}\n"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        if sorted {
            sort_phi_uses(&module);
        }
        let phi = instructions(module.get_function("f").expect("it is there")).nth(1).expect("it is there");
        let name = |user| match user {
            Use::Instruction(user) => user.get_name().map(|name| name.to_string_lossy().into_owned()),
            Use::Global(_) => None,
        };
        uses(&phi).into_iter().filter_map(name).collect()
    }

    #[test]
    fn so_does_that_of_whatever_belongs_to_a_function() {
        let users = |order: &str| {
            let text = format!(
                "define i32 @f(i32 %x) {{\n  %v = add i32 %x, 7\n  %a = add i32 %v, 1\n  %b = add i32 %v, 2\n  \
                 %c = add i32 %v, %x\n  ret i32 %c\n  {order}\n}}\n"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            sort_uses(&module);
            let function = module.get_function("f").expect("it is there");
            let named = |user| match user {
                Use::Instruction(user) => user.get_name().map(|name| name.to_string_lossy().into_owned()),
                Use::Global(_) => None,
            };
            let of_param = uses(&function.get_nth_param(0).expect("it has one"));
            let of_value = uses(&instructions(function).next().expect("it is there"));
            [of_param, of_value].map(|users| users.into_iter().filter_map(named).collect::<String>())
        };
        for order in ["", "uselistorder i32 %x, { 1, 0 }", "uselistorder i32 %v, { 1, 2, 0 }"] {
            assert_eq!(users(order), ["cv", "cba"], "{order}");
        }
    }

    #[test]
    fn the_order_of_uses_follows_the_instructions() {
        let [plain, other] = ["", "uselistorder i32 %phi, { 1, 0, 2 }"];
        assert_ne!(users(plain, false), users(other, false), "the second is in another order");
        assert_eq!([users(plain, true), users(other, true)], ["cba", "cba"]);
    }
}

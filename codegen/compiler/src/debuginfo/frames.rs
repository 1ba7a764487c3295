//! What the frames of a panic need: cuda-gdb finds a function's caller by what ptxas says of its frame.

use crate::llvm::{self, Attribute, AttributeLoc, BasicValue, BuilderError, FunctionValue, InstructionOpcode, Module};

/// Has functions that never return look as if they did.
///
/// ptxas lets them forget where they were called from: LLVM is not to write `.noreturn` (PTX ISA, "Performance-Tuning
/// Directives: .noreturn"). Of a function without `ret` ptxas describes the frame as taken down at the first `exit`, also
/// for all code that stands behind: behind the call of a function that never returns LLVM would write an `exit`, which is
/// never reached, and writes a `ret` instead.
///
/// Before: `call void @panic() unreachable`, where `panic` is `noreturn`. After: `call void @panic() ret void`.
pub fn keep_callers<'ctx>(module: &Module<'ctx>) -> Result<(), BuilderError> {
    let kind = Attribute::get_named_enum_kind_id("noreturn");
    // LLVM writes the directive for functions without a result alone.
    let never_returns = |function: FunctionValue<'ctx>| {
        function.get_intrinsic_id() == 0
            && function.get_type().get_return_type().is_none()
            && function.get_enum_attribute(AttributeLoc::Function, kind).is_some()
    };
    let builder = module.get_context().create_builder();
    for function in llvm::functions(module) {
        let result = function.get_type().get_return_type().map(llvm::poison);
        for end in function.get_basic_block_iter().filter_map(|block| block.get_terminator()) {
            let callee = end.get_previous_instruction().and_then(llvm::called_function);
            if end.get_opcode() == InstructionOpcode::Unreachable && callee.is_some_and(never_returns) {
                builder.position_before(&end);
                let result = result.as_ref().map(|result| result as &dyn BasicValue<'ctx>);
                // It belongs to no line: nobody can stop there.
                builder.build_return(result)?.set_debug_location(None);
                end.erase_from_basic_block();
            }
        }
    }
    let marked = llvm::functions(module).filter(|function| never_returns(*function));
    marked.for_each(|function| function.remove_enum_attribute(AttributeLoc::Function, kind));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Context;

    #[test]
    fn what_is_never_reached_returns_and_a_users_exit_stays() {
        let context = Context::create();
        let text = "
            declare void @fail() noreturn
            declare void @back()
            declare void @llvm.trap()
            define i32 @f(i1 %c) {
              br i1 %c, label %a, label %b
            a:
              call void @fail()
              unreachable
            b:
              call void @back()
              unreachable
            }
            define void @g(i1 %c) noreturn {
              br i1 %c, label %a, label %b
            a:
              call void @fail()
              unreachable
            b:
              call void asm sideeffect \"exit;\", \"\"() noreturn
              unreachable
            }
            define void @h() {
              call void @llvm.trap()
              unreachable
            }
        ";
        let module = llvm::parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        keep_callers(&module).expect("it can be built");
        module.verify().expect("the module is sound");
        let ends = |name: &str| -> Vec<InstructionOpcode> {
            let function = module.get_function(name).expect("it is there");
            let ends = function.get_basic_block_iter().filter_map(|block| block.get_terminator());
            ends.map(|end| end.get_opcode()).collect()
        };
        use InstructionOpcode::{Br, Return, Unreachable};
        assert_eq!(ends("f"), [Br, Return, Unreachable]);
        assert_eq!(ends("g"), [Br, Return, Unreachable]);
        assert_eq!(ends("h"), [Unreachable]);
        let kind = Attribute::get_named_enum_kind_id("noreturn");
        for name in ["fail", "g"] {
            let function = module.get_function(name).expect("it is there");
            assert!(function.get_enum_attribute(AttributeLoc::Function, kind).is_none(), "{name}");
        }
    }
}

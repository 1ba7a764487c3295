//! Writes a difference that ends at 0 as a maximum, in loops.
//!
//! ```text
//! before: loop: %y = call i32 @llvm.usub.sat.i32(i32 %row, i32 4)       ; %row = %first + %k
//! after:  loop: %most = call i32 @llvm.umax.i32(i32 %row, i32 4)
//!               %y = sub nuw i32 %most, 4
//! ```
//!
//! Of such a difference LLVM makes `%row - umin(%row, 4)` where it chooses what a loop counts (loop strength reduction): the
//! first part grows alike, so it got a counter, and the second another one. Of a column of an image whose rows are clamped,
//! four rows at a time, that were four counters more, with a register and an addition each. The sum, the maximum and a minimum
//! that follows are one instruction or two of a GPU.
//!
//! Sound: the larger one of two numbers, less the second, is their difference, or 0 where that would be less. The second is
//! frozen, because it is looked at twice.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{self, BasicValue, BuilderError, Context, InstructionValue, Intrinsic, Module};

use super::natural::Graph;

/// Rewrites all of them in innermost loops.
pub fn saturate<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        if !llvm::instructions(function).any(is_difference) {
            continue;
        }
        let loops = Graph::of(function).innermost();
        let blocks = loops.iter().flat_map(|found| &found.blocks);
        let all: Vec<_> =
            blocks.flat_map(|block| block.get_instructions()).filter(|from| is_difference(*from)).collect();
        for difference in all {
            rewrite(context, module, difference).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot write a difference as a maximum: {error}"))
            })?;
        }
    }
    Ok(())
}

fn is_difference(from: InstructionValue<'_>) -> bool {
    llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.usub.sat.i"))
}

fn rewrite<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    difference: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let (Some(from), Some(less)) = (llvm::int_operand(difference, 0), llvm::int_operand(difference, 1)) else {
        return Ok(());
    };
    let builder = context.create_builder();
    builder.position_before(&difference);
    let less = if less.is_const() { less } else { llvm::build_freeze(&builder, less) };
    let larger =
        Intrinsic::find("llvm.umax").and_then(|larger| larger.get_declaration(module, &[from.get_type().into()]));
    let call = builder.build_call(larger.expect("LLVM has its intrinsics"), &[from.into(), less.into()], "")?;
    let most = call.try_as_basic_value().unwrap_basic().into_int_value();
    let result = builder.build_int_nuw_sub(most, less, "")?;
    llvm::replace_uses(difference, result.as_basic_value_enum());
    difference.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn a_difference_in_a_loop_is_a_maximum() {
        let text = "declare i32 @llvm.usub.sat.i32(i32, i32)
            define i32 @f(i32 %n, i32 %radius) {
            entry: %once = call i32 @llvm.usub.sat.i32(i32 %n, i32 4)
              br label %loop
            loop: %k = phi i32 [ 0, %entry ], [ %next, %loop ]
              %sum = phi i32 [ %once, %entry ], [ %more.2, %loop ]
              %row = call i32 @llvm.usub.sat.i32(i32 %k, i32 4)
              %column = call i32 @llvm.usub.sat.i32(i32 %k, i32 %radius)
              %more = add i32 %sum, %row
              %more.2 = add i32 %more, %column
              %next = add i32 %k, 1
              %go = icmp ult i32 %next, %n
              br i1 %go, label %loop, label %end
            end: ret i32 %more.2
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        saturate(&context, &module).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        assert_eq!((ir.matches("llvm.usub.sat").count(), ir.matches("llvm.umax").count()), (1, 2), "{ir}");
        assert_eq!((ir.matches("sub nuw i32").count(), ir.matches("freeze i32 %radius").count()), (2, 1), "{ir}");
    }
}

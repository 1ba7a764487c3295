//! Extends a number once more in each block that uses it.
//!
//! ```text
//! before: entry: %wide = zext i32 %i to i64                    ; was moved here, because a condition asks for it
//!                br i1 (icmp ult i64 %wide, %len), label %mine, label %end
//!         mine:  %x = load float, ptr (getelementptr float, ptr %from, i64 %wide)
//! after:  entry: %wide = zext i32 %i to i64
//!                br i1 (icmp ult i64 %wide, %len), label %mine, label %end
//!         mine:  %again = zext i32 (call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %i)) to i64
//!                %x = load float, ptr (getelementptr float, ptr %from, i64 %again)
//! ```
//!
//! PTX multiplies numbers of 32 bits to one of 64 (`mul.wide`, PTX ISA 9.7.1.3), and GPUs add an address in the same instruction
//! (`IMAD.WIDE`). LLVM's code generator sees a block at a time: of a number that was extended in another one it shifts 64 bits,
//! for which ptxas has two instructions, and two more for the sum. It would take the earlier number if it knew that it is the
//! same. Of all numbers this does not pay: `IMAD.WIDE` takes its address from a register, which is read from the parameters
//! first, and on an H200 a copy took 1 % longer, a product of a sparse matrix 5 %, and `gcd` 6 %.
//!
//! **Why it is right.** It is the same number.

use std::collections::HashSet;

use super::moved;
use crate::llvm::{
    self, BasicValueEnum, Builder, BuilderError, Context, InstructionOpcode, InstructionValue, IntValue,
};

/// The number of 32 bits that an instruction extends to 64.
fn extended<'ctx>(context: &'ctx Context, from: InstructionValue<'ctx>) -> Option<IntValue<'ctx>> {
    if !matches!(from.get_opcode(), InstructionOpcode::ZExt | InstructionOpcode::SExt) {
        return None;
    }
    let is_wide = llvm::result(from).get_type() == context.i64_type().into();
    match from.get_operand(0)?.value()? {
        BasicValueEnum::IntValue(number) if is_wide && number.get_type() == context.i32_type() => Some(number),
        _ => None,
    }
}

/// Has a number of 32 bits that is extended to 64 be so once more in each other block that uses it.
pub fn extend<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    from: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some(number) = extended(context, from) else { return Ok(()) };
    // A phi takes it where control comes from.
    let elsewhere = moved::users(llvm::result(from), |user| {
        user.get_opcode() != InstructionOpcode::Phi && user.get_parent() != from.get_parent()
    });
    let mut seen = HashSet::new();
    let blocks = elsewhere.iter().filter_map(|user| user.get_parent()).filter(|block| seen.insert(*block));
    for block in blocks {
        let mut here = block.get_instructions().filter(|user| elsewhere.contains(user)).peekable();
        let Some(first) = here.peek() else { continue };
        builder.position_before(first);
        let hidden = llvm::build_hidden(context, builder, number)?;
        let copy = llvm::result(llvm::build_copy(builder, from, &[(0, hidden.into())]));
        here.for_each(|user| moved::replace_in(context, user, llvm::result(from), copy));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    #[test]
    fn each_block_extends_the_number_itself() {
        let text = "define void @f(ptr %from, ptr %to, i32 %i, i64 %len) {
            entry: %wide = zext i32 %i to i64
              %mine = icmp ult i64 %wide, %len
              br i1 %mine, label %own, label %end
            own: %at = getelementptr float, ptr %from, i64 %wide
              store i64 %wide, ptr %at
              br label %end
            end: ret void
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let wide = function.get_first_basic_block().and_then(|entry| entry.get_first_instruction()).unwrap();
        extend(&context, &context.create_builder(), wide).unwrap();
        module.verify().unwrap();
        let text = function.print_to_string().to_string();
        let own = text.split("own:").nth(1).unwrap();
        assert_eq!((own.matches("mov.b32").count(), own.matches("zext i32").count()), (1, 1), "{text}");
        assert!(!own.contains("%wide") && text.contains("icmp ult i64 %wide, %len"), "{text}");
    }
}

//! Operands of 64 bits whose upper half is zero, as numbers of 32: one register instead of two.
//!
//! ```text
//! before: %index = zext i32 %i to i64           ; an index of a thread
//! after:  %i
//!
//! before: %index = phi i64 [ 3, %a ], [ 4, %b ]           ; an index that unrolling made constant
//! after:  %half = phi i32 [ 3, %a ], [ 4, %b ]
//! ```

use std::collections::HashMap;

use crate::llvm::{self, BasicBlock, BasicValueEnum, BuilderError, Context, InstructionOpcode, IntValue};

/// Those that were found; a phi has one half, wherever it is asked for.
#[derive(Default)]
pub struct Halves<'ctx>(HashMap<IntValue<'ctx>, IntValue<'ctx>>);

impl<'ctx> Halves<'ctx> {
    /// The lower half of a word, if the upper one is zero; else the word.
    pub fn of(&mut self, context: &'ctx Context, word: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        if let Some(half) = extended(word) {
            return Ok(half);
        }
        if let Some(half) = self.0.get(&word) {
            return Ok(*half);
        }
        let Some(phi) = llvm::instruction_of(word.into()).filter(|from| from.get_opcode() == InstructionOpcode::Phi)
        else {
            return Ok(word);
        };
        let halves = llvm::incoming(phi).into_iter().map(|(value, from)| Some((half(context, value)?, from)));
        let Some(halves) = halves.collect::<Option<Vec<(IntValue<'ctx>, BasicBlock<'ctx>)>>>() else { return Ok(word) };
        let builder = context.create_builder();
        builder.position_before(&phi);
        let half = builder.build_phi(context.i32_type(), "half")?;
        for (value, from) in &halves {
            half.add_incoming(&[(value, *from)]);
        }
        let half = half.as_basic_value().into_int_value();
        self.0.insert(word, half);
        Ok(half)
    }
}

/// What a word of 64 bits was extended from, without a sign.
pub fn extended(word: IntValue<'_>) -> Option<IntValue<'_>> {
    let extended = llvm::instruction_of(word.into()).filter(|from| from.get_opcode() == InstructionOpcode::ZExt)?;
    llvm::int_operand(extended, 0).filter(|half| half.get_type().get_bit_width() == 32)
}

/// The same of what a phi takes, which may be a constant.
fn half<'ctx>(context: &'ctx Context, value: BasicValueEnum<'ctx>) -> Option<IntValue<'ctx>> {
    let BasicValueEnum::IntValue(word) = value else { return None };
    match word.get_zero_extended_constant() {
        Some(constant) => u32::try_from(constant).ok().map(|low| context.i32_type().const_int(low.into(), false)),
        None => extended(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// The half of `%word`, asked for twice, and the module then.
    fn half_of(block: &str) -> (String, String) {
        let text = format!(
            "define i64 @f(i1 %c, i32 %i, i64 %n) {{
            entry:
              %i.wide = zext i32 %i to i64
              %i.signed = sext i32 %i to i64
              br i1 %c, label %a, label %b
            a: br label %b
            b:
              {block}
              ret i64 %word
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let returned = function.get_last_basic_block().unwrap().get_terminator().unwrap();
        let word = llvm::int_operand(returned, 0).unwrap();
        let mut halves = Halves::default();
        let half = halves.of(&context, word).unwrap();
        assert_eq!(halves.of(&context, word).unwrap(), half);
        (half.to_string(), module.print_to_string().to_string())
    }

    #[test]
    fn halves_are_found() {
        let (half, ir) = half_of("%word = phi i64 [ 3, %entry ], [ 4294967295, %a ]");
        assert!(half.contains("phi i32 [ 3, %entry ], [ -1, %a ]"), "{half}");
        assert_eq!(ir.matches("phi i32").count(), 1);
        let (half, _) = half_of("%word = phi i64 [ 3, %entry ], [ %i.wide, %a ]");
        assert!(half.contains("phi i32 [ 3, %entry ], [ %i, %a ]"), "{half}");
        let (half, _) = half_of("%word = zext i32 %i to i64");
        assert!(half.contains("i32 %i"), "{half}");
    }

    #[test]
    fn what_may_be_more_stays() {
        for block in [
            "%word = phi i64 [ 3, %entry ], [ 4294967296, %a ]",
            "%word = phi i64 [ 3, %entry ], [ -1, %a ]",
            "%word = phi i64 [ 3, %entry ], [ %n, %a ]",
            "%word = phi i64 [ %i.signed, %entry ], [ 1, %a ]",
            "%word = zext i1 %c to i64",
            "%word = add i64 %n, 1",
        ] {
            let (half, ir) = half_of(block);
            assert!(half.contains("%word = "), "{half}");
            assert!(!ir.contains("phi i32"), "{ir}");
        }
    }
}

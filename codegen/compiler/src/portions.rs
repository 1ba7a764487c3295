//! Knows how much is left of a portion of constant length, from a thread's element on.
//!
//! ```text
//! before: %begin = or disjoint i64 %portion, %t                  ; (portion + t..portion + 1024).step_by(256)
//!         %end = add nuw i64 %portion, 1024
//!         %left = call i64 @llvm.usub.sat.i64(i64 %end, i64 %begin)
//!         %rounds = lshr i64 (add i64 %left, 255), 8
//! after:  %left = sub nuw i64 1024, %t                           ; %t is below 256, so that LLVM knows %rounds: 4
//! ```
//!
//! So a block goes through its part of a slice. LLVM compares both ends as they are, and does not see that they begin at the
//! same place; so it counts the rounds at run time and cannot write them all out, in front of whose barriers their loads could
//! be asked for.
//!
//! **Why it is right.** Neither sum wraps around, as LLVM was promised, so the difference of both is that of what is added,
//! and the second of these is no more than the first.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::indices::Ranges;
use crate::llvm::{
    self, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntValue, Module,
};
use crate::loops::Graph;
use crate::settled;

/// Does so in every function.
pub fn measure<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open_and_fast(module) {
        measure_in(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot measure what is left of a part of a slice: {error}"))
        })?;
    }
    Ok(())
}

fn measure_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let portions: Vec<Portion<'ctx>> = llvm::instructions(function).filter_map(Portion::of).collect();
    if portions.is_empty() {
        return Ok(());
    }
    let (graph, given, same) = (Graph::of(function), QuickMap::default(), QuickMap::default());
    let ranges = Ranges::of_function(&graph, &given, &same);
    let fit: Vec<&Portion<'ctx>> = portions.iter().filter(|portion| portion.is_begun_within(&ranges)).collect();
    fit.into_iter().try_for_each(|portion| portion.write(context))
}

/// The difference of two sums of the same number, or 0.
struct Portion<'ctx> {
    difference: InstructionValue<'ctx>,
    length: IntValue<'ctx>,
    begin: IntValue<'ctx>,
}

impl<'ctx> Portion<'ctx> {
    fn of(difference: InstructionValue<'ctx>) -> Option<Self> {
        if !llvm::calls(difference, &["llvm.usub.sat.i64"]) {
            return None;
        }
        let (ends, begins) =
            (summands(llvm::int_operand(difference, 0)?)?, summands(llvm::int_operand(difference, 1)?)?);
        let begun = |(portion, length): (IntValue<'ctx>, IntValue<'ctx>)| {
            let (_, begin) = begins.into_iter().find(|(other, _)| *other == portion)?;
            Some(Self { difference, length, begin })
        };
        ends.into_iter().find_map(begun)
    }

    /// Whether what it begins with is within it.
    fn is_begun_within(&self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let Some(block) = self.difference.get_parent() else { return false };
        let [length, begin] = [self.length, self.begin].map(|value| ranges.in_block(value, block));
        begin.low >= 0 && begin.high <= length.low
    }

    fn write(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.difference);
        let length = builder.build_int_nuw_sub(self.length, self.begin, "")?;
        llvm::replace_uses(self.difference, length.into());
        Ok(())
    }
}

/// What a number is the sum of, either way round, if that does not wrap around.
fn summands(value: IntValue<'_>) -> Option<[(IntValue<'_>, IntValue<'_>); 2]> {
    let sum = value.as_instruction_value().filter(|sum| match sum.get_opcode() {
        Op::Add => llvm::has_no_unsigned_wrap(*sum),
        Op::Or => llvm::is_disjoint(*sum),
        _ => false,
    })?;
    let (one, other) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
    Some([(one, other), (other, one)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A kernel that computes how many rounds a thread has, after [`measure`].
    fn measured(rounds: &str) -> String {
        let text = format!(
            "declare i64 @llvm.usub.sat.i64(i64, i64)
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            define ptx_kernel void @f(i32 %block, i64 %any, ptr %to) {{
              %wide = zext i32 %block to i64
              %portion = shl nuw nsw i64 %wide, 10
              %t.short = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %t = zext nneg i32 %t.short to i64
              {rounds}
              store i64 %rounds, ptr %to
              ret void
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        measure(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const ROUNDS: &str = "%begin = or disjoint i64 %portion, %t
        %end = add nuw nsw i64 %portion, 1024
        %left = call i64 @llvm.usub.sat.i64(i64 %end, i64 %begin)
        %more = add nuw nsw i64 %left, 255
        %rounds = lshr i64 %more, 8";

    #[test]
    fn what_is_left_is_a_difference() {
        for (from, to, left) in [
            ("%portion, 1024", "%portion, 1024", "1024, %t"),
            ("or disjoint i64 %portion, %t", "add nuw i64 %t, %portion", "1024, %t"),
            ("%portion, 1024", "%portion, 2000", "2000, %t"),
        ] {
            let ir = measured(&ROUNDS.replace(from, to));
            assert!(ir.contains(&format!("%1 = sub nuw i64 {left}")) && ir.contains("add nuw nsw i64 %1, 255"), "{ir}");
        }
    }

    #[test]
    fn what_may_not_begin_within_stays() {
        for (from, to) in [
            ("%portion, 1024", "%portion, 200"),
            ("%portion, 1024", "%any, 1024"),
            ("%portion, 1024", "%portion, %any"),
            ("or disjoint i64", "or i64"),
            ("add nuw nsw i64 %portion", "add nsw i64 %portion"),
        ] {
            let text = ROUNDS.replace(from, to);
            assert_ne!(text, ROUNDS);
            let ir = measured(&text);
            assert!(ir.contains("%left = call") && ir.contains("i64 %left, 255"), "{to}: {ir}");
        }
    }
}

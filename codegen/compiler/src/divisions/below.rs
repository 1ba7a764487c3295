//! Asks whether a number is below a quotient by a constant without the division: `number < slice.len() / 3`.
//!
//! ```text
//! before: icmp ult i64 %number, (udiv i64 %len, 3)
//! after:  icmp ult i64 (add nuw i64 (mul nuw i64 %number, 3), 2), %len
//! ```
//!
//! So a thread asks for its part of a slice that is cut into parts of three, as [`PerThread`] does. No GPU divides 64
//! bits: by a constant it takes ten instructions, each of which waits for the one before. The product is one, which the
//! part's address is computed with, too.
//!
//! Not by a power of two, which is a shift. Nor in loops, where the quotient is computed once before.
//!
//! **Why it is right.** A number is below a quotient that is rounded down exactly if the next number is not above it,
//! and so if the next number times the divisor is not above the dividend; that is one more than `%number * 3 + 2`. The
//! number is seen to be so small that nothing wraps around.
//!
//! [`PerThread`]: https://docs.rs/ptx/latest/ptx/struct.PerThread.html

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickSet;
use crate::indices::Ranges;
use crate::llvm::{
    self, BasicValue, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntPredicate as P, IntValue, Module,
};
use crate::loops::Graph;
use crate::settled;

use super::looked_at::by_ranges;

/// Rewrites such comparisons.
pub fn compare<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open(module) {
        compare_in(context, function)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot compare with a dividend: {error}")))?;
    }
    Ok(())
}

fn compare_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let mut found: Vec<Comparison<'ctx>> = llvm::instructions(function).filter_map(Comparison::of).collect();
    if found.is_empty() {
        return Ok(());
    }
    let in_loops: QuickSet<_> = Graph::of(function).loops().into_iter().flat_map(|found| found.blocks).collect();
    found.retain(|found| found.instruction.get_parent().is_some_and(|block| !in_loops.contains(&block)));
    by_ranges(function, found, Comparison::fits).into_iter().try_for_each(|found| found.write(context))
}

/// A number that is compared with a quotient.
struct Comparison<'ctx> {
    instruction: InstructionValue<'ctx>,
    /// Whether the number is asked to be below the quotient, or not to be.
    is_below: bool,
    number: IntValue<'ctx>,
    dividend: IntValue<'ctx>,
    divisor: u64,
}

impl<'ctx> Comparison<'ctx> {
    fn of(instruction: InstructionValue<'ctx>) -> Option<Self> {
        let predicate = instruction.get_icmp_predicate()?;
        let (left, right) = (llvm::int_operand(instruction, 0)?, llvm::int_operand(instruction, 1)?);
        let (is_below, number, quotient) = match predicate {
            P::ULT => (true, left, right),
            P::UGE => (false, left, right),
            P::UGT => (true, right, left),
            P::ULE => (false, right, left),
            _ => return None,
        };
        let division = quotient.as_instruction_value().filter(|from| from.get_opcode() == Op::UDiv)?;
        let (dividend, divisor) =
            (llvm::int_operand(division, 0)?, llvm::int_operand(division, 1)?.get_zero_extended_constant()?);
        let is_dear = number.get_type().get_bit_width() == 64 && divisor > 0 && !divisor.is_power_of_two();
        is_dear.then_some(Self { instruction, is_below, number, dividend, divisor })
    }

    /// Whether the last number of the part has 63 bits.
    fn fits(&self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let Some(block) = self.instruction.get_parent() else { return false };
        let range = ranges.in_block(self.number, block);
        let last = range.high.checked_mul(self.divisor.into()).and_then(|first| first.checked_add(self.divisor.into()));
        range.low >= 0 && last.is_some_and(|last| last <= i64::MAX.into())
    }

    fn write(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.instruction);
        let word = self.number.get_type();
        let first = builder.build_int_nuw_mul(self.number, word.const_int(self.divisor, false), "")?;
        let last = builder.build_int_nuw_add(first, word.const_int(self.divisor - 1, false), "")?;
        let predicate = if self.is_below { P::ULT } else { P::UGE };
        let new = builder.build_int_compare(predicate, last, self.dividend, "")?;
        llvm::replace_uses(self.instruction, new.into());
        self.instruction.erase_from_basic_block();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// What becomes of a comparison with `%q`, of a number `%i` of 32 bits and one of 64.
    fn compared(quotient: &str, comparison: &str) -> String {
        let text = format!(
            "define i1 @f(i64 %len, i32 %x, i64 %any, i1 %again) {{
            entry: %i = zext i32 %x to i64
              {quotient}
              br label %ask
            ask: %is = icmp {comparison}
              br i1 %again, label %AGAIN, label %end
            end: ret i1 %is
            }}"
        );
        let back = if comparison.ends_with(" ; in a loop") { "ask" } else { "end" };
        let context = Context::create();
        let module = parse_ir(&context, text.replace("AGAIN", back).as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        compare_in(&context, function).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    #[test]
    fn the_last_of_a_part_is_compared_with_the_length() {
        let by_three = "%q = udiv i64 %len, 3";
        for (comparison, becomes) in [
            ("ult i64 %i, %q", "icmp ult i64 %1, %len"),
            ("ugt i64 %q, %i", "icmp ult i64 %1, %len"),
            ("uge i64 %i, %q", "icmp uge i64 %1, %len"),
            ("ule i64 %q, %i", "icmp uge i64 %1, %len"),
        ] {
            let ir = compared(by_three, comparison);
            assert!(ir.contains("%0 = mul nuw i64 %i, 3") && ir.contains("%1 = add nuw i64 %0, 2"), "{ir}");
            assert!(ir.contains(becomes), "{comparison}: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for (quotient, comparison) in [
            ("%q = udiv i64 %len, 3", "ugt i64 %i, %q"),
            ("%q = udiv i64 %len, 3", "eq i64 %i, %q"),
            ("%q = udiv i64 %len, 3", "slt i64 %i, %q"),
            ("%q = udiv i64 %len, 4", "ult i64 %i, %q"),
            ("%q = udiv i64 %len, %any", "ult i64 %i, %q"),
            ("%q = sdiv i64 %len, 3", "ult i64 %i, %q"),
            // Three times the number may wrap around.
            ("%q = udiv i64 %len, 3", "ult i64 %any, %q"),
            ("%q = udiv i64 %len, 6148914691236517205", "ult i64 %i, %q"),
            ("%q = udiv i64 %len, 3", "ult i64 %i, %q ; in a loop"),
        ] {
            let ir = compared(quotient, comparison);
            assert!(ir.contains(&format!("icmp {}", comparison.replace(" ; in a loop", ""))), "{ir}");
        }
    }

    #[test]
    fn both_say_the_same() {
        for len in 0..40_u64 {
            for (number, divisor) in (0..20).flat_map(|number| [1, 3, 5, 7].map(|divisor| (number, divisor))) {
                assert_eq!(number < len / divisor, number * divisor + (divisor - 1) < len, "{number} {len} {divisor}");
            }
        }
    }
}

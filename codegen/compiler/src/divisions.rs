//! Divides by 32 bits where the dividend has no more.
//!
//! ```text
//! before: urem i64 (zext i32 %i), %n
//! after:  %is_large = icmp ugt i64 %n, 4294967295
//!         select i1 %is_large, %i, (urem i32 %i, (select i1 %is_large, 1, (trunc %n))), then zext
//! ```
//!
//! `i % width` of a thread's index and a `usize`: a division of 64 bits is a call of about 100 instructions on every GPU. LLVM
//! asks first whether both numbers are small, and so keeps the call, with its registers, for a case that cannot be. A
//! dividend below 2^32 divided by more is 0, and what is left is the dividend.

mod below;
mod looked_at;
mod shared;
mod small;

pub use below::compare;
pub use shared::share;
pub use small::divide_as_floats;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::indices::Ranges;
use crate::llvm::{
    self, BasicValue, BuilderError, Context, InstructionOpcode, InstructionValue, IntPredicate, IntValue, Module,
};
use crate::settled;

use looked_at::by_ranges;

/// How deep a dividend may be computed.
const MOST_STEPS: u32 = 6;

/// Narrows every unsigned division of 64 bits whose dividend is seen to be below 2^32.
pub fn narrow<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open(module) {
        let divisions = llvm::instructions(function).filter_map(Division::of).collect();
        for division in by_ranges(function, divisions, Division::is_small) {
            // Again: the dividend may be the quotient of another, which was narrowed since.
            let Some(division) = Division::of(division.instruction) else { continue };
            division
                .narrow(context)
                .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot narrow a division: {error}")))?;
        }
    }
    Ok(())
}

struct Division<'ctx> {
    instruction: InstructionValue<'ctx>,
    dividend: IntValue<'ctx>,
    divisor: IntValue<'ctx>,
    /// Whether what is left is asked for.
    rest: bool,
}

impl<'ctx> Division<'ctx> {
    fn of(instruction: InstructionValue<'ctx>) -> Option<Self> {
        let rest = match instruction.get_opcode() {
            InstructionOpcode::UDiv => false,
            InstructionOpcode::URem => true,
            _ => return None,
        };
        let (dividend, divisor) = (llvm::int_operand(instruction, 0)?, llvm::int_operand(instruction, 1)?);
        // LLVM multiplies where the divisor is a constant.
        let is_wide = dividend.get_type().get_bit_width() == 64 && !divisor.is_const();
        is_wide.then_some(Self { instruction, dividend, divisor, rest })
    }

    /// Whether the dividend is seen to be below 2^32: by what it is computed of, or what branches and loops say of it.
    fn is_small(&self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let is_told = || {
            self.instruction.get_parent().is_some_and(|block| {
                let range = ranges.in_block(self.dividend, block);
                range.low >= 0 && range.high < 1 << 32
            })
        };
        is_below_2_32(self.dividend, MOST_STEPS) || is_told()
    }

    fn narrow(&self, context: &'ctx Context) -> Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.instruction);
        let (narrow, wide) = (context.i32_type(), context.i64_type());
        let most = wide.const_int(u64::from(u32::MAX), false);
        // Both are looked at twice: if they mean nothing, they have to be the same numbers.
        let divisor = llvm::build_freeze(&builder, self.divisor);
        let is_large = builder.build_int_compare(IntPredicate::UGT, divisor, most, "")?;
        let dividend = llvm::build_freeze(&builder, self.dividend);
        let dividend = builder.build_int_truncate(dividend, narrow, "")?;
        let small = builder.build_int_truncate(divisor, narrow, "")?;
        let small = builder.build_select(is_large, narrow.const_int(1, false), small, "")?.into_int_value();
        let quotient = builder.build_int_unsigned_div(dividend, small, "")?;
        let result = if self.rest {
            let product = builder.build_int_mul(quotient, small, "")?;
            let rest = builder.build_int_sub(dividend, product, "")?;
            builder.build_select(is_large, dividend, rest, "")?
        } else {
            builder.build_select(is_large, narrow.const_zero(), quotient, "")?
        };
        let result = builder.build_int_z_extend(result.into_int_value(), wide, "")?;
        llvm::replace_uses(self.instruction, result.into());
        self.instruction.erase_from_basic_block();
        Ok(())
    }
}

/// Whether a number of 64 bits is seen to need 32.
fn is_below_2_32(value: IntValue<'_>, steps: u32) -> bool {
    const LIMIT: u64 = 1 << 32;
    if let Some(constant) = value.get_zero_extended_constant() {
        return constant < LIMIT;
    }
    let Some(from) = value.as_instruction_value().filter(|_| steps > 0) else { return false };
    let small = |index| llvm::int_operand(from, index).is_some_and(|value| is_below_2_32(value, steps - 1));
    match from.get_opcode() {
        InstructionOpcode::ZExt => {
            llvm::int_operand(from, 0).is_some_and(|value| value.get_type().get_bit_width() <= 32)
        }
        InstructionOpcode::And => small(0) || small(1),
        InstructionOpcode::Or | InstructionOpcode::Xor => small(0) && small(1),
        InstructionOpcode::UDiv | InstructionOpcode::LShr => small(0),
        InstructionOpcode::URem => small(0) || small(1),
        InstructionOpcode::Select => small(1) && small(2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::AnyValue;
    use crate::llvm::parse_ir;

    fn narrowed(body: &str) -> String {
        let text = format!("define i64 @f(i32 %i, i64 %wide, i64 %n) {{ {body} }}");
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        narrow(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn a_small_dividend_is_divided_by_32_bits() {
        for body in [
            "%a = zext i32 %i to i64\n %q = udiv i64 %a, %n\n ret i64 %q",
            "%a = and i64 %wide, 65535\n %q = urem i64 %a, %n\n ret i64 %q",
            // By what a loop says of its counter.
            "entry: br label %loop
            loop: %a = phi i64 [ 0, %entry ], [ %next, %loop ]
              %q = udiv i64 %a, %n
              %next = add i64 %a, 1
              %on = icmp ult i64 %next, 1000
              br i1 %on, label %loop, label %end
            end: ret i64 %q",
            // A quotient of one is one.
            "%a = zext i32 %i to i64\n %p = udiv i64 %a, %n\n %q = urem i64 %p, %n\n ret i64 %q",
        ] {
            let ir = narrowed(body);
            assert!(ir.contains("udiv i32") && !ir.contains("udiv i64") && !ir.contains("urem"), "{ir}");
            assert!(ir.contains("icmp ugt i64") && ir.contains("freeze i64 %n"), "{ir}");
        }
    }

    #[test]
    fn others_stay() {
        for body in
            ["%q = udiv i64 %wide, %n\n ret i64 %q", "%a = zext i32 %i to i64\n %q = sdiv i64 %a, %n\n ret i64 %q"]
        {
            assert!(!narrowed(body).contains("div i32"), "{body}");
        }
        // LLVM multiplies by what a constant is the reciprocal of.
        assert!(narrowed("%a = zext i32 %i to i64\n %q = udiv i64 %a, 7\n ret i64 %q").contains("udiv i64 %a, 7"));
    }
}

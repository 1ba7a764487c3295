//! Divides small numbers as floats.
//!
//! ```text
//! before: %q = udiv i16 %a, %b
//! after:  %x = fsub float (bitcast i32 (or disjoint i32 (zext %a), 0x4b000000) to float), 0x1p23      ; %a; %y of %b alike
//!         %r = call float @llvm.nvvm.rcp.approx.ftz.f(float %y)
//!         %more = bitcast i32 (add i32 (bitcast %r), 2) to float
//!         %s = call float @llvm.nvvm.add.rz.f(float (call float @llvm.nvvm.mul.rz.f(float %x, float %more)), 0x1p23)
//!         %q = trunc i32 (and i32 (bitcast %s), 0x7fffff) to i16
//! ```
//!
//! No GPU divides integers. LLVM narrows a division of what was extended from bytes to 16 bits, and that one is a call for
//! ptxas, in each place where it stands: colours in another space took 1.2 times as long as nvcc's, which divides 32 bits in
//! line, by some 16 instructions, of which three run on the GPU's slowest pipe. These are nine, of which one does.
//!
//! Numbers of 32 bits are divided so where what is known of them says that they are small.
//!
//! **Why it is right.** Below 2^23, a number is a float's last bits if its exponent makes these count 1 each, so both are
//! exact. The reciprocal is wrong by one unit in the last place at most (PTX ISA, "rcp.approx.ftz.f32"), so two units more
//! are more than it is, by three at most: by a 2^-23rd of it each. So the product is more than the quotient, and rounded
//! down not less than a whole one. A quotient is at least `1 / b` below the next whole number, and the product at most
//! `3 a / 2^23 b` more than it, which is less where `a` is below 2^21: then the whole numbers below both are the same.
//! Added to 2^23 and rounded down, that is the float's last bits.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::indices::Ranges;
use crate::llvm::{
    self, Builder, BuilderError, Context, FloatValue, InstructionOpcode as Op, InstructionValue, IntValue, Intrinsic,
    Module,
};

use super::looked_at::by_ranges;

/// Dividends are below.
const MOST: i128 = 1 << 21;

/// Divisors are below: 2^23, from which on floats are whole numbers.
const MOST_DIVISOR: i128 = 1 << 23;
const WHOLE: u64 = 0x4b00_0000;

/// Units in the last place by which a reciprocal is made too large.
const MORE: u64 = 2;

/// Divides every small number so.
pub fn divide_as_floats<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module) {
        let divisions = llvm::instructions(function).filter_map(Division::of).collect();
        for division in by_ranges(function, divisions, Division::is_small) {
            division
                .write(context, module)
                .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("cannot divide as floats: {error}")))?;
        }
    }
    Ok(())
}

/// A division of up to 32 bits by a number that is not constant.
struct Division<'ctx> {
    instruction: InstructionValue<'ctx>,
    operands: [IntValue<'ctx>; 2],
    signed: bool,
    /// Whether what is left is asked for.
    rest: bool,
}

impl<'ctx> Division<'ctx> {
    fn of(instruction: InstructionValue<'ctx>) -> Option<Self> {
        let (signed, rest) = match instruction.get_opcode() {
            Op::UDiv => (false, false),
            Op::URem => (false, true),
            Op::SDiv => (true, false),
            Op::SRem => (true, true),
            _ => return None,
        };
        let (dividend, divisor) = (llvm::int_operand(instruction, 0)?, llvm::int_operand(instruction, 1)?);
        // LLVM multiplies where the divisor is a constant.
        let is_fit = dividend.get_type().get_bit_width() <= 32 && !divisor.is_const();
        is_fit.then_some(Self { instruction, operands: [dividend, divisor], signed, rest })
    }

    /// Whether both are small: all numbers of 16 bits are.
    fn is_small(&self, ranges: &Ranges<'_, 'ctx>) -> bool {
        let is_below = |value, most| {
            self.instruction.get_parent().is_some_and(|block| {
                let range = ranges.in_block(value, block);
                range.low >= 0 && range.high < most
            })
        };
        let [dividend, divisor] = self.operands;
        dividend.get_type().get_bit_width() <= 16
            || !self.signed && is_below(dividend, MOST) && is_below(divisor, MOST_DIVISOR)
    }

    fn write(&self, context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
        let builder = context.create_builder();
        builder.position_before(&self.instruction);
        let word = context.i32_type();
        let extended = |value: IntValue<'ctx>| match value.get_type().get_bit_width() {
            32 => Ok(value),
            _ if self.signed => builder.build_int_s_extend(value, word, ""),
            _ => builder.build_int_z_extend(value, word, ""),
        };
        let [dividend, divisor] = [extended(self.operands[0])?, extended(self.operands[1])?];
        let floats = Floats { context, module, builder: &builder };
        let mut result = if self.signed {
            // -1 where they have different signs.
            let signs = builder.build_xor(dividend, divisor, "")?;
            let sign = builder.build_right_shift(signs, word.const_int(31, false), true, "")?;
            let quotient = floats.quotient(floats.absolute(dividend)?, floats.absolute(divisor)?)?;
            builder.build_int_sub(builder.build_xor(quotient, sign, "")?, sign, "")?
        } else {
            floats.quotient(dividend, divisor)?
        };
        if self.rest {
            result = builder.build_int_sub(dividend, builder.build_int_mul(result, divisor, "")?, "")?;
        }
        let ty = self.operands[0].get_type();
        if ty != word {
            result = builder.build_int_truncate(result, ty, "")?;
        }
        llvm::replace_uses(self.instruction, result.into());
        self.instruction.erase_from_basic_block();
        Ok(())
    }
}

/// Writes the operations of floats.
struct Floats<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: &'a Builder<'ctx>,
}

impl<'ctx> Floats<'_, 'ctx> {
    /// Of numbers below [`MOST`] and [`MOST_DIVISOR`].
    fn quotient(&self, dividend: IntValue<'ctx>, divisor: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let (builder, word) = (self.builder, self.context.i32_type());
        let whole = self.float(word.const_int(WHOLE, false))?;
        let number = |number: IntValue<'ctx>| {
            let bits = builder.build_or(number, word.const_int(WHOLE, false), "")?;
            builder.build_float_sub(self.float(bits)?, whole, "")
        };
        let (dividend, divisor) = (number(dividend)?, number(divisor)?);
        let reciprocal = self.call("llvm.nvvm.rcp.approx.ftz.f", &[divisor])?;
        let more = builder.build_int_add(self.bits(reciprocal)?, word.const_int(MORE, false), "")?;
        let product = self.call("llvm.nvvm.mul.rz.f", &[dividend, self.float(more)?])?;
        let sum = self.call("llvm.nvvm.add.rz.f", &[product, whole])?;
        builder.build_and(self.bits(sum)?, word.const_int(MOST_DIVISOR as u64 - 1, false), "")
    }

    fn absolute(&self, number: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let zero = self.context.i32_type().const_zero();
        let is_negative = self.builder.build_int_compare(llvm::IntPredicate::SLT, number, zero, "")?;
        let negated = self.builder.build_int_neg(number, "")?;
        Ok(self.builder.build_select(is_negative, negated, number, "")?.into_int_value())
    }

    fn float(&self, bits: IntValue<'ctx>) -> Result<FloatValue<'ctx>, BuilderError> {
        Ok(self.builder.build_bit_cast(bits, self.context.f32_type(), "")?.into_float_value())
    }

    fn bits(&self, float: FloatValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        Ok(self.builder.build_bit_cast(float, self.context.i32_type(), "")?.into_int_value())
    }

    fn call(&self, name: &str, operands: &[FloatValue<'ctx>]) -> Result<FloatValue<'ctx>, BuilderError> {
        let function = Intrinsic::find(name)
            .and_then(|found| found.get_declaration(self.module, &[]))
            .unwrap_or_else(|| panic!("LLVM has {name}"));
        let operands: Vec<_> = operands.iter().map(|operand| (*operand).into()).collect();
        let call = self.builder.build_call(function, &operands, "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_float_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn divided(ty: &str, body: &str) -> String {
        let text = format!("define {ty} @f({ty} %a, {ty} %b, i32 %m, i32 %n) {{ {body} }}");
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        divide_as_floats(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn small_numbers_are_divided_as_floats() {
        for (ty, body) in [
            ("i16", "%q = udiv i16 %a, %b\n ret i16 %q"),
            ("i16", "%q = urem i16 %a, %b\n ret i16 %q"),
            ("i16", "%q = sdiv i16 %a, %b\n ret i16 %q"),
            ("i8", "%q = srem i8 %a, %b\n ret i8 %q"),
            ("i32", "%x = and i32 %a, 2097151\n %y = and i32 %b, 8388607\n %q = udiv i32 %x, %y\n ret i32 %q"),
        ] {
            let ir = divided(ty, body);
            assert!(!ir.contains("div i") && !ir.contains("rem i"), "{ir}");
            assert_eq!(ir.matches("rcp.approx.ftz.f").count(), 1, "{ir}");
            assert_eq!(ir.contains("ashr"), body.contains(" sdiv") || body.contains(" srem"), "{ir}");
        }
    }

    #[test]
    fn others_stay() {
        for (ty, body) in [
            ("i32", "%q = udiv i32 %a, %b\n ret i32 %q"),
            ("i32", "%x = and i32 %a, 4194303\n %y = and i32 %b, 255\n %q = udiv i32 %x, %y\n ret i32 %q"),
            ("i32", "%x = and i32 %a, 255\n %y = and i32 %b, 16777215\n %q = udiv i32 %x, %y\n ret i32 %q"),
            ("i32", "%x = and i32 %a, 255\n %y = and i32 %b, 255\n %q = sdiv i32 %x, %y\n ret i32 %q"),
            ("i64", "%x = and i64 %a, 255\n %y = and i64 %b, 255\n %q = udiv i64 %x, %y\n ret i64 %q"),
            ("i16", "%q = udiv i16 %a, 7\n ret i16 %q"),
        ] {
            assert!(divided(ty, body).contains("div i"), "{body}");
        }
    }

    /// A float rounded to zero, of a number that a double holds exactly.
    fn rounded(exact: f64) -> f32 {
        let near = exact as f32;
        if f64::from(near) > exact { f32::from_bits(near.to_bits() - 1) } else { near }
    }

    /// What the instructions compute, with a reciprocal that is off by so many units in the last place.
    fn quotient(dividend: u32, divisor: u32, off: i32) -> u32 {
        let [x, y] = [dividend, divisor].map(|number| f32::from_bits(number | WHOLE as u32) - 8_388_608.0);
        let reciprocal = (1.0 / f64::from(y)) as f32;
        // The next float below or above the reciprocal itself, whichever that was rounded to.
        let more = f32::from_bits(reciprocal.to_bits().wrapping_add_signed(off) + MORE as u32);
        let product = rounded(f64::from(x) * f64::from(more));
        rounded(f64::from(product) + 8_388_608.0).to_bits() & 0x7f_ffff
    }

    #[test]
    fn quotients_are_right_whatever_the_last_place_of_a_reciprocal_is() {
        let divisors = (1..3000).chain((1..1 << 23).step_by(1_237)).chain((1_u32 << 23) - 40..1 << 23);
        for divisor in divisors {
            let last = (MOST as u32 - 1) / divisor;
            for whole in (0..4).chain(last.saturating_sub(4)..=last).filter(|whole| *whole <= last) {
                for dividend in [(whole * divisor).saturating_sub(1), whole * divisor, whole * divisor + divisor / 2] {
                    let dividend = dividend.min(MOST as u32 - 1);
                    for off in -1..=1 {
                        assert_eq!(
                            quotient(dividend, divisor, off),
                            dividend / divisor,
                            "{dividend} / {divisor}, {off}"
                        );
                    }
                }
            }
        }
    }
}

//! Comparisons with zero of numbers that were integers: where subnormal numbers count as zeros, LLVM must not be asked.
//!
//! ```text
//! before: %f = bitcast i32 %high to float
//!         %z = fcmp oeq float %f, 0.0               (ftz)
//! after:  %e = and i32 %high, 0x7f800000
//!         %z = icmp eq i32 %e, 0
//! ```
//!
//! LLVM's InstCombine makes `%high & 0x7fffffff == 0` of it whatever the function's attributes say, so that a subnormal
//! number is no zero. libdevice's logarithms in double precision compare so, and nvcc's answer for negative subnormal
//! numbers under `--ftz=true` is -inf for that reason. Of exponent 0 are zeros and subnormal numbers, and no others.

use crate::llvm::{
    self, BasicValueEnum, BuilderError, Context, FloatPredicate, InstructionOpcode, InstructionValue, IntPredicate,
    IntValue,
};

/// The bits of the exponent.
const EXPONENT: u64 = 0x7f80_0000;

/// Replaces the comparison, if the instruction is one, in a function with ftz.
pub fn compare<'ctx>(context: &'ctx Context, instruction: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let predicate = match instruction.get_fcmp_predicate() {
        Some(FloatPredicate::OEQ) => IntPredicate::EQ,
        Some(FloatPredicate::UNE) => IntPredicate::NE,
        _ => return Ok(()),
    };
    let operand = |index| instruction.get_operand(index).and_then(|operand| operand.value());
    let (Some(left), Some(right)) = (operand(0), operand(1)) else { return Ok(()) };
    let bits = match (bits(left), bits(right)) {
        (Some(bits), None) if is_zero(right) => bits,
        (None, Some(bits)) if is_zero(left) => bits,
        _ => return Ok(()),
    };
    let builder = context.create_builder();
    builder.position_before(&instruction);
    let ty = bits.get_type();
    let exponent = builder.build_and(bits, ty.const_int(EXPONENT, false), "")?;
    let result = builder.build_int_compare(predicate, exponent, ty.const_zero(), "")?;
    llvm::replace_uses(instruction, result.into());
    instruction.erase_from_basic_block();
    Ok(())
}

/// The integer that a number of single precision was made from.
fn bits(value: BasicValueEnum<'_>) -> Option<IntValue<'_>> {
    let BasicValueEnum::FloatValue(value) = value else { return None };
    let cast = value.as_instruction().filter(|cast| cast.get_opcode() == InstructionOpcode::BitCast)?;
    match cast.get_operand(0)?.value()? {
        BasicValueEnum::IntValue(bits) if bits.get_type().get_bit_width() == 32 => Some(bits),
        _ => None,
    }
}

fn is_zero(value: BasicValueEnum<'_>) -> bool {
    matches!(value, BasicValueEnum::FloatValue(value) if value.get_constant().is_some_and(|(value, _)| value == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    #[test]
    fn a_subnormal_number_is_zero() {
        let context = Context::create();
        let text = "
            define i1 @f(i32 %x, float %y) {
              %float = bitcast i32 %x to float
              %zero = fcmp oeq float %float, 0.0
              %other = fcmp une float 0.0, %float
              %less = fcmp olt float %float, 0.0
              %plain = fcmp oeq float %y, 0.0
              %a = and i1 %zero, %other
              %b = and i1 %less, %plain
              %c = and i1 %a, %b
              ret i1 %c
            }
        ";
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it defines `f`");
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            compare(&context, instruction).expect("it is replaced");
        }
        let text = module.print_to_string().to_string();
        assert_eq!(text.matches("and i32 %x, 2139095040").count(), 2, "{text}");
        assert_eq!((text.matches("icmp eq i32").count(), text.matches("icmp ne i32").count()), (1, 1), "{text}");
        assert_eq!(text.matches("fcmp").count(), 2, "{text}");
    }
}

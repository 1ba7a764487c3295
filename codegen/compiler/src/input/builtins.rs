//! Replaces by calls into `compiler_builtins` what LLVM's NVPTX backend, which has no library calls, cannot do or does
//! badly.
//!
//! Before: `%r = udiv i128 %a, %b`. After: `%r = call i128 @__udivti3(i128 %c, i128 %d)`, where these are `freeze i128 %a`
//! and `freeze i128 %b`. LLVM alone divides 128-bit integers bit by bit, gives a float's remainder with the quotient's
//! rounding error in it, and stops at conversions between floats and 128-bit integers.

use std::collections::HashSet;

use super::{half, remainder};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicType, BasicTypeEnum, BasicValue, BasicValueEnum, Builder,
    BuilderError, Context, FunctionType, FunctionValue, InstructionOpcode, InstructionValue, Module,
};

/// LLVM's saturating conversions, which Rust's `as` is.
const CONVERSIONS: [(&str, &str); 4] = [
    ("llvm.fptoui.sat.i128.f32", "__fixunssfti"),
    ("llvm.fptoui.sat.i128.f64", "__fixunsdfti"),
    ("llvm.fptosi.sat.i128.f32", "__fixsfti"),
    ("llvm.fptosi.sat.i128.f64", "__fixdfti"),
];

/// Remembers which functions have been looked through.
#[derive(Debug, Default)]
pub struct Builtins(HashSet<String>);

impl Builtins {
    /// Looks through the functions that came since the last time. What is not `available` stays as it is.
    pub fn call<'ctx>(
        &mut self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        available: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let failed =
            |error: BuilderError| Diagnostic::error(Code::LlvmFailed, format!("cannot call a builtin: {error}"));
        let builder = context.create_builder();
        for function in llvm::functions(module).filter(|f| !self.0.contains(&*f.get_name().to_string_lossy())) {
            for instruction in llvm::instructions(function).collect::<Vec<_>>() {
                half::widen(context, module, &builder, instruction).map_err(failed)?;
            }
        }
        for (intrinsic, builtin) in CONVERSIONS.into_iter().filter(|(_, builtin)| available(builtin)) {
            if let Some(function) = module.get_function(intrinsic) {
                llvm::freeze_arguments(&builder, function);
                function.replace_all_uses_with(declare(module, builtin, function.get_type()));
                // SAFETY: the builtin is used in its place, and this is its only handle.
                unsafe { llvm::delete_function(function) };
            }
        }
        for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
            if !self.0.insert(function.get_name().to_string_lossy().into_owned()) {
                continue;
            }
            let found: Vec<_> = llvm::instructions(function)
                .filter_map(|i| Some((i, builtin_for(i).filter(|builtin| available(builtin))?)))
                .collect();
            for (instruction, builtin) in found {
                replace(context, module, &builder, instruction, builtin).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// The builtin that does what an instruction does.
fn builtin_for(instruction: InstructionValue<'_>) -> Option<&'static str> {
    use InstructionOpcode as Op;
    let result = || BasicTypeEnum::try_from(instruction.get_type()).ok();
    let operand = |index| instruction.get_operand(index)?.value();
    let source = || Some(operand(0)?.get_type());
    match instruction.get_opcode() {
        opcode @ (Op::UDiv | Op::URem | Op::SDiv | Op::SRem) => {
            if !is_i128(result()?) || is_power_of_two(operand(1)?) {
                return None;
            }
            let is_narrow = is_below_2_to_64(operand(1)?);
            Some(match opcode {
                Op::UDiv if is_narrow => "__udivti3_by_u64",
                Op::URem if is_narrow => "__umodti3_by_u64",
                Op::UDiv => "__udivti3",
                Op::URem => "__umodti3",
                Op::SDiv => "__divti3",
                _ => "__modti3",
            })
        }
        Op::FRem => float(result()?, "fmodf", "fmod"),
        Op::FPToUI if is_i128(result()?) => float(source()?, "__fixunssfti", "__fixunsdfti"),
        Op::FPToSI if is_i128(result()?) => float(source()?, "__fixsfti", "__fixdfti"),
        Op::UIToFP if is_i128(source()?) => float(result()?, "__floatuntisf", "__floatuntidf"),
        Op::SIToFP if is_i128(source()?) => float(result()?, "__floattisf", "__floattidf"),
        _ => None,
    }
}

fn is_i128(ty: BasicTypeEnum<'_>) -> bool {
    matches!(ty, BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 128)
}

/// Whether a divisor is seen to be below 2^64: `a as u128 * b as u128 % m as u128`.
fn is_below_2_to_64(divisor: BasicValueEnum<'_>) -> bool {
    let divisor = divisor.into_int_value();
    if divisor.is_const() {
        // Printed, as below.
        let text = divisor.to_string();
        return text.trim_matches('"').rsplit(' ').next().is_some_and(|number| number.parse::<u64>().is_ok());
    }
    divisor.as_instruction_value().filter(|from| from.get_opcode() == InstructionOpcode::ZExt).is_some_and(|from| {
        let of = from.get_operand(0).and_then(|of| of.value());
        matches!(of, Some(BasicValueEnum::IntValue(of)) if of.get_type().get_bit_width() <= 64)
    })
}

/// LLVM makes shifts of divisions by these.
fn is_power_of_two(divisor: BasicValueEnum<'_>) -> bool {
    let divisor = divisor.into_int_value();
    if !divisor.is_const() {
        return false;
    }
    // Printed, as in `i128 4096`: LLVM's C interface gives no constant of more than 64 bits.
    let text = divisor.to_string();
    let number = text.trim_matches('"').rsplit(' ').next().and_then(|number| number.parse::<i128>().ok());
    number.is_some_and(|number| number.unsigned_abs().is_power_of_two())
}

/// The name for `f32` or `f64`; other floats are left to LLVM.
fn float(ty: BasicTypeEnum<'_>, single: &'static str, double: &'static str) -> Option<&'static str> {
    match ty {
        BasicTypeEnum::FloatType(ty) if ty.get_bit_width() == 32 => Some(single),
        BasicTypeEnum::FloatType(ty) if ty.get_bit_width() == 64 => Some(double),
        _ => None,
    }
}

/// Puts a call of the builtin in the place of an instruction.
fn replace<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    instruction: InstructionValue<'ctx>,
    builtin: &str,
) -> Result<(), BuilderError> {
    let operands: Vec<_> = instruction.get_operands().flatten().filter_map(|operand| operand.value()).collect();
    let types: Vec<BasicMetadataTypeEnum<'ctx>> = operands.iter().map(|value| value.get_type().into()).collect();
    let Ok(result) = BasicTypeEnum::try_from(instruction.get_type()) else { return Ok(()) };
    let mut callee = declare(module, builtin, result.fn_type(&types, false));
    if instruction.get_opcode() == InstructionOpcode::FRem {
        callee = remainder::quick(context, module, callee)?;
    }
    builder.position_before(&instruction);
    // LLVM divides and converts before it knows whether it needs the result, and numbers that mean nothing where it does
    // not. A call with such an argument would be undefined behaviour.
    let frozen = operands.into_iter().map(|operand| llvm::freeze(builder, operand));
    let arguments: Vec<BasicMetadataValueEnum<'ctx>> = frozen.map(Into::into).collect();
    let call = builder.build_call(callee, &arguments, "")?;
    if let Some(value) = call.try_as_basic_value().basic().and_then(|value| value.as_instruction_value()) {
        instruction.replace_all_uses_with(&value);
        instruction.erase_from_basic_block();
    }
    Ok(())
}

fn declare<'ctx>(module: &Module<'ctx>, name: &str, ty: FunctionType<'ctx>) -> FunctionValue<'ctx> {
    module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function with calls in the place of its instructions; they are declared as Rust's are.
    fn called(text: &str) -> String {
        let context = Context::create();
        let builtins = "declare i128 @__modti3(i128 noundef, i128 noundef)\n declare float @__floatuntisf(i128 noundef)\n\
                        declare i128 @__fixunssfti(float noundef)\n declare i128 @llvm.fptoui.sat.i128.f32(float)\n";
        let module = parse_ir(&context, format!("{builtins}{text}").as_bytes(), "module").unwrap();
        Builtins::default().call(&context, &module, |_| true).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// `x.checked_pow(n).unwrap_or(i128::MAX) % 10`: LLVM computes `% 10` of the power, which is undefined if there is none, and
    /// chooses then. The test for the overflow was gone, because no undefined number may be handed to a function.
    #[test]
    fn what_may_be_undefined_does_not_reach_a_builtin() {
        for operation in [
            "%r = srem i128 %p, 10\n %v = select i1 %some, i128 %r, i128 7\n ret i128 %v",
            "%r = uitofp i128 %p to float\n %s = select i1 %some, float %r, float 3.0\n %b = bitcast float %s to i32\n \
             %v = zext i32 %b to i128\n ret i128 %v",
        ] {
            let ir = called(&format!(
                "define i128 @f(i128 noundef %x, i1 noundef %overflows, ptr noundef %seen) {{\n br i1 %overflows, label %none, label %one\n\
                 one:\n %y = mul i128 %x, %x\n store volatile i8 1, ptr %seen\n br label %none\n\
                 none:\n %p = phi i128 [ %y, %one ], [ undef, %0 ]\n %some = phi i1 [ true, %one ], [ false, %0 ]\n {operation}\n}}"
            ));
            assert!(ir.contains("= freeze i128 %p"), "{ir}");
            assert!(["@__modti3(i128 %1,", "@__floatuntisf(i128 %1)"].iter().any(|call| ir.contains(call)), "{ir}");
        }
    }

    #[test]
    fn a_divisor_of_64_bits_has_its_own_builtin() {
        for (divisor, name) in [
            ("%w", "__umodti3_by_u64"),
            ("1000000007", "__umodti3_by_u64"),
            ("18446744073709551617", "__umodti3"),
            ("%x", "__umodti3"),
        ] {
            let ir = called(&format!(
                "define i128 @f(i128 %x, i64 %m) {{\n %w = zext i64 %m to i128\n %r = urem i128 %x, {divisor}\n ret i128 %r\n}}"
            ));
            assert!(ir.contains(&format!("@{name}(")), "{ir}");
        }
    }

    #[test]
    fn what_may_be_undefined_does_not_reach_a_conversion() {
        let ir =
            called("define i128 @f(float %x) {\n %r = call i128 @llvm.fptoui.sat.i128.f32(float %x)\n ret i128 %r\n}");
        assert!(ir.contains("freeze float %x") && ir.contains("@__fixunssfti(float %1)"), "{ir}");
    }
}

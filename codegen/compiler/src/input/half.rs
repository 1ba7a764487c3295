//! Has what LLVM's NVPTX backend cannot do with `f16`, or does badly, done with `f32`, which holds every `f16`.
//!
//! Before: `%r = frem half %a, %b`. After: `%wide = frem float (fpext %a), (fpext %b)`, `%r = fptrunc float %wide`. The result
//! is the same: a remainder has no more digits than its operands, and an integer that is rounded twice is rounded far beyond
//! the largest `f16` the first time.

use crate::llvm::{
    self, BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context, FloatValue, InstructionOpcode,
    InstructionValue, Intrinsic, Module,
};

/// Rewrites an instruction of that kind, and leaves all others.
pub fn widen<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    instruction: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    use InstructionOpcode as Op;
    let Ok(result) = BasicTypeEnum::try_from(instruction.get_type()) else { return Ok(()) };
    let operand = |index| instruction.get_operand(index).and_then(|operand| operand.value());
    builder.position_before(&instruction);
    let wide = |index| -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        match operand(index) {
            Some(BasicValueEnum::FloatValue(value)) if value.get_type() == context.f16_type() => {
                builder.build_float_ext(value, context.f32_type(), "").map(Some)
            }
            _ => Ok(None),
        }
    };
    let narrow = |value| builder.build_float_trunc(value, context.f16_type(), "").map(BasicValueEnum::from);
    let is_half = result == context.f16_type().into();
    let is_wide = |ty: BasicTypeEnum<'_>| matches!(ty, BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 128);
    let new: BasicValueEnum<'ctx> = match (instruction.get_opcode(), operand(0)) {
        (Op::FRem, _) if is_half => match (wide(0)?, wide(1)?) {
            (Some(left), Some(right)) => narrow(builder.build_float_rem(left, right, "")?)?,
            _ => return Ok(()),
        },
        (Op::UIToFP, Some(BasicValueEnum::IntValue(value))) if is_half && is_wide(value.get_type().into()) => {
            narrow(builder.build_unsigned_int_to_float(value, context.f32_type(), "")?)?
        }
        (Op::SIToFP, Some(BasicValueEnum::IntValue(value))) if is_half && is_wide(value.get_type().into()) => {
            narrow(builder.build_signed_int_to_float(value, context.f32_type(), "")?)?
        }
        (opcode @ (Op::FPToUI | Op::FPToSI), _) if is_wide(result) => match (wide(0)?, opcode) {
            (Some(value), Op::FPToUI) => builder.build_float_to_unsigned_int(value, result.into_int_type(), "")?.into(),
            (Some(value), _) => builder.build_float_to_signed_int(value, result.into_int_type(), "")?.into(),
            (None, _) => return Ok(()),
        },
        (Op::Call, _) if is_wide(result) => {
            let Some(callee) = llvm::called_function(instruction) else { return Ok(()) };
            let name = match callee.get_name().to_bytes() {
                b"llvm.fptoui.sat.i128.f16" => "llvm.fptoui.sat",
                b"llvm.fptosi.sat.i128.f16" => "llvm.fptosi.sat",
                _ => return Ok(()),
            };
            let found = Intrinsic::find(name);
            let types = [result, context.f32_type().into()];
            let (Some(callee), Some(value)) = (found.and_then(|i| i.get_declaration(module, &types)), wide(0)?) else {
                return Ok(());
            };
            match builder.build_call(callee, &[value.into()], "")?.try_as_basic_value().basic() {
                Some(value) => value,
                None => return Ok(()),
            }
        }
        _ => return Ok(()),
    };
    llvm::replace_uses(instruction, new);
    instruction.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    #[test]
    fn what_is_not_done_in_halves_is_done_in_floats() {
        let context = Context::create();
        let text = "
            declare i128 @llvm.fptosi.sat.i128.f16(half)
            declare i128 @llvm.fptoui.sat.i128.f16(half)
            define half @f(half %a, half %b, i128 %i, ptr %out) {
              %rem = frem half %a, %b
              %from = sitofp i128 %i to half
              %unsigned = uitofp i128 %i to half
              %to = call i128 @llvm.fptosi.sat.i128.f16(half %a)
              %to_unsigned = call i128 @llvm.fptoui.sat.i128.f16(half %a)
              %unchecked = fptosi half %b to i128
              %sum = fadd half %rem, %from
              %all = fadd half %sum, %unsigned
              store volatile i128 %to, ptr %out
              store volatile i128 %to_unsigned, ptr %out
              store volatile i128 %unchecked, ptr %out
              %short = fptosi half %a to i32
              store volatile i32 %short, ptr %out
              ret half %all
            }
        ";
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it defines `f`");
        let builder = context.create_builder();
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            widen(&context, &module, &builder, instruction).expect("it is rewritten");
        }
        module.verify().expect("the module is sound");
        let text = module.print_to_string().to_string();
        for part in [
            "frem float",
            "sitofp i128 %i to float",
            "uitofp i128 %i to float",
            "@llvm.fptosi.sat.i128.f32(float",
            "@llvm.fptoui.sat.i128.f32(float",
            "fptosi float",
            "fadd half",
            "fptosi half %a to i32",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("call i128 @llvm.fptosi.sat.i128.f16"), "{text}");
    }
}

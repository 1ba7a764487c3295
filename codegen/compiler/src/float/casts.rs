//! `x as i32` of a float, which is in range whatever `x` is, in one instruction: GPUs convert like Rust, LLVM does not know it.
//!
//! ```text
//! before: %i = call i32 @llvm.fptosi.sat.i32.f32(float %x)
//!         %l = call i64 @llvm.fptosi.sat.i64.f32(float %x)
//!         %b = call i8 @llvm.fptoui.sat.i8.f32(float %x)
//! after:  %i = call i32 @llvm.nvvm.f2i.rz(float %x)
//!         %w = call i64 @llvm.nvvm.f2ll.rz(float %x)
//!         %nan = fcmp uno float %x, 0.0
//!         %l = select i1 %nan, i64 0, i64 %w
//!         %u = call i32 @llvm.nvvm.f2ui.rz(float %x)
//!         %m = call i32 @llvm.umin.i32(i32 %u, i32 255)
//!         %b = trunc i32 %m to i8
//! ```
//!
//! PTX ISA, `cvt`: beyond the integer's range the result is its nearest value, and NaN becomes 0 where neither side has 64 bits.

use crate::llvm::{
    self, AnyTypeEnum, BasicValueEnum, Builder, BuilderError, Context, FloatPredicate, FloatValue, InstructionValue,
    IntType, IntValue, Intrinsic, Module,
};

/// A call of `llvm.fptosi.sat` or `llvm.fptoui.sat`.
struct Cast<'ctx> {
    signed: bool,
    /// Its type, as in `f32`.
    float: &'static str,
    integer: IntType<'ctx>,
}

impl<'ctx> Cast<'ctx> {
    /// Of a float that there are instructions for, into an integer of at most 64 bits.
    fn of(call: InstructionValue<'ctx>) -> Option<Self> {
        let AnyTypeEnum::IntType(integer) = call.get_type() else { return None };
        let callee = llvm::called_function(call)?;
        let name = callee.get_name().to_str().ok()?;
        let signed = name.starts_with("llvm.fptosi.sat.");
        let float = ["f16", "f32", "f64"].into_iter().find(|float| name.rsplit('.').next() == Some(float))?;
        let is_cast = (signed || name.starts_with("llvm.fptoui.sat.")) && integer.get_bit_width() <= 64;
        is_cast.then_some(Self { signed, float, integer })
    }

    /// The name of the instruction's intrinsic.
    fn intrinsic(&self, ftz: bool) -> String {
        let double = self.float == "f64";
        let integer = match (self.signed, self.integer.get_bit_width() > 32) {
            (true, false) => "i",
            (false, false) => "ui",
            (true, true) => "ll",
            (false, true) => "ull",
        };
        let (source, end) = (if double { "d" } else { "f" }, if ftz && !double { ".ftz" } else { "" });
        format!("llvm.nvvm.{source}2{integer}.rz{end}")
    }
}

/// Replaces a conversion; leaves everything else.
pub fn lower<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    ftz: bool,
    call: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some(cast) = Cast::of(call) else { return Ok(()) };
    let Some(BasicValueEnum::FloatValue(mut float)) = call.get_operand(0).and_then(|operand| operand.value()) else {
        return Ok(());
    };
    let builder = context.create_builder();
    builder.position_before(&call);
    if cast.float == "f16" {
        float = builder.build_float_ext(float, context.f32_type(), "")?;
    }
    let Some(converted) = integer(&builder, module, &cast.intrinsic(ftz), &[float.into()])? else { return Ok(()) };
    let Some(value) = within(module, &builder, &cast, float, converted)? else { return Ok(()) };
    llvm::replace_uses(call, value.into());
    call.erase_from_basic_block();
    Ok(())
}

/// What the instruction alone does not do.
fn within<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    cast: &Cast<'ctx>,
    float: FloatValue<'ctx>,
    converted: IntValue<'ctx>,
) -> Result<Option<IntValue<'ctx>>, BuilderError> {
    let (ty, bits) = (converted.get_type(), cast.integer.get_bit_width());
    let mut value = converted;
    if cast.float == "f64" || bits > 32 {
        let is_nan = builder.build_float_compare(FloatPredicate::UNO, float, float.get_type().const_zero(), "")?;
        value = builder.build_select(is_nan, ty.const_zero(), value, "")?.into_int_value();
    }
    if bits == ty.get_bit_width() {
        return Ok(Some(value));
    }
    let most = (1_u64 << (bits - u32::from(cast.signed))) - 1;
    let limits: &[(&str, u64)] = match cast.signed {
        true => &[("llvm.smin", most), ("llvm.smax", !most)],
        false if is_at_most(float, most) => &[],
        false => &[("llvm.umin", most)],
    };
    for (operation, limit) in limits {
        let limit = ty.const_int(*limit, true);
        let name = format!("{operation}.i{}", ty.get_bit_width());
        let Some(limited) = integer(builder, module, &name, &[value.into(), limit.into()])? else { return Ok(None) };
        value = limited;
    }
    builder.build_int_truncate(value, cast.integer, "").map(Some)
}

/// Whether a number is a minimum of another and of one that is no more than this; of nothing it is that one, too.
fn is_at_most(float: FloatValue<'_>, most: u64) -> bool {
    let Some(call) = llvm::instruction_of(float.into()) else { return false };
    let is_limit = |(_, operand): (u32, BasicValueEnum<'_>)| match operand {
        BasicValueEnum::FloatValue(limit) => limit.get_constant().is_some_and(|(limit, _)| limit <= most as f64),
        _ => false,
    };
    llvm::calls(call, &["llvm.minimumnum.", "llvm.minnum."]) && llvm::value_operands(call).any(is_limit)
}

/// Calls an intrinsic that gives an integer.
fn integer<'ctx>(
    builder: &Builder<'ctx>,
    module: &Module<'ctx>,
    name: &str,
    operands: &[BasicValueEnum<'ctx>],
) -> Result<Option<IntValue<'ctx>>, BuilderError> {
    let Some(intrinsic) = Intrinsic::find(name) else { return Ok(None) };
    let overloads = if intrinsic.is_overloaded() { vec![operands[0].get_type()] } else { Vec::new() };
    let Some(callee) = intrinsic.get_declaration(module, &overloads) else { return Ok(None) };
    let operands: Vec<_> = operands.iter().map(|operand| (*operand).into()).collect();
    let call = builder.build_call(callee, &operands, "")?;
    Ok(call.try_as_basic_value().basic().map(BasicValueEnum::into_int_value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The body after lowering.
    fn lowered(name: &str, integer: &str, float: &str, ftz: bool) -> String {
        let context = Context::create();
        let text = format!(
            "declare {integer} @{name}({float})\n\
             define {integer} @f({float} %x) {{\n%i = call {integer} @{name}({float} %x)\nret {integer} %i\n}}\n"
        );
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it defines `f`");
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            lower(&context, &module, ftz, instruction).expect("it is replaced");
        }
        module.verify().expect("the module is sound");
        module.print_to_string().to_string()
    }

    #[test]
    fn one_instruction_converts_into_32_bits() {
        let signed = lowered("llvm.fptosi.sat.i32.f32", "i32", "float", false);
        assert!(signed.contains("@llvm.nvvm.f2i.rz(float %x)") && !signed.contains("select"), "{signed}");
        let unsigned = lowered("llvm.fptoui.sat.i32.f32", "i32", "float", true);
        assert!(unsigned.contains("@llvm.nvvm.f2ui.rz.ftz(float %x)") && !unsigned.contains("select"), "{unsigned}");
    }

    #[test]
    fn nan_is_zero_where_the_instruction_has_it_otherwise() {
        for (name, integer, float, instruction) in [
            ("llvm.fptosi.sat.i64.f32", "i64", "float", "f2ll.rz"),
            ("llvm.fptosi.sat.i32.f64", "i32", "double", "d2i.rz"),
            ("llvm.fptoui.sat.i64.f64", "i64", "double", "d2ull.rz"),
        ] {
            let text = lowered(name, integer, float, false);
            assert!(text.contains(instruction) && text.contains("fcmp uno") && text.contains("select"), "{text}");
        }
    }

    #[test]
    fn fewer_bits_have_limits() {
        let signed = lowered("llvm.fptosi.sat.i8.f32", "i8", "float", false);
        assert!(signed.contains("i32 127)") && signed.contains("i32 -128)") && signed.contains("trunc"), "{signed}");
        let unsigned = lowered("llvm.fptoui.sat.i16.f16", "i16", "half", false);
        assert!(unsigned.contains("i32 65535)") && unsigned.contains("fpext half"), "{unsigned}");
    }

    #[test]
    fn what_is_no_more_needs_no_limit() {
        let after = |call: &str| {
            let context = Context::create();
            let text = format!(
                "declare i8 @llvm.fptoui.sat.i8.f32(float)
                declare float @llvm.minimumnum.f32(float, float)
                declare float @llvm.maximumnum.f32(float, float)
                define i8 @f(float %x) {{
                  %y = call float @llvm.{call}
                  %i = call i8 @llvm.fptoui.sat.i8.f32(float %y)
                  ret i8 %i
                }}"
            );
            let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            let function = module.get_function("f").expect("it defines `f`");
            for instruction in llvm::instructions(function).collect::<Vec<_>>() {
                lower(&context, &module, false, instruction).expect("it is replaced");
            }
            module.verify().expect("the module is sound");
            function.print_to_string().to_string()
        };
        assert!(!after("minimumnum.f32(float %x, float 255.0)").contains("llvm.umin"));
        assert!(after("minimumnum.f32(float %x, float 256.0)").contains("llvm.umin"));
        assert!(after("maximumnum.f32(float %x, float 255.0)").contains("llvm.umin"));
    }

    #[test]
    fn the_rest_stays() {
        for (name, integer, float) in [
            ("llvm.fptosi.sat.i128.f32", "i128", "float"),
            ("llvm.fptosi.sat.v2i32.v2f32", "<2 x i32>", "<2 x float>"),
            ("llvm.fptosi.sat.i32.bf16", "i32", "bfloat"),
        ] {
            assert!(lowered(name, integer, float, false).contains(&format!("@{name}(")), "{name}");
        }
    }
}

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
//! Of 64 bits, at `-O2` and `-O3`:
//!
//! ```text
//! before: %l = call i64 @llvm.fptoui.sat.i64.f32(float %x)     ; `x as usize`
//!         %f = uitofp i64 %n to float                          ; `n as f32`
//! after:  cvt.rzi.u32.f32 of %x; where that is 2^32 and more, or NaN, cvt.rzi.u64.f32
//!         cvt.rn.f32.u32 of the lower half of %n; where the upper is not 0, cvt.rn.f32.u64
//! ```
//!
//! A GPU converts 64 bits in the unit for reciprocals, and takes several times as long; of 32 it makes floats in each cycle. CUDA
//! C++ has `int` there. ptxas gives the second instruction a predicate, so it costs nothing where no thread of a warp needs
//! it. Both give the same where the first suffices: the same number is rounded, or cut off, in one step.
//!
//! PTX ISA, `cvt`: beyond the integer's range the result is its nearest value, and NaN becomes 0 where neither side has 64 bits.

use crate::llvm::{
    self, AnyTypeEnum, BasicType, BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context, FloatPredicate,
    FloatValue, InstructionOpcode, InstructionValue, IntType, IntValue, Intrinsic, Module,
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

/// Replaces a conversion; leaves everything else. `fast` is for speed, `ftz` takes subnormal floats for zeros.
pub fn lower<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    (ftz, fast): (bool, bool),
    call: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    if fast && let Some(signed) = from_wide(call) {
        return to_float(context, call, signed);
    }
    let Some(cast) = Cast::of(call) else { return Ok(()) };
    let Some(BasicValueEnum::FloatValue(mut float)) = call.get_operand(0).and_then(|operand| operand.value()) else {
        return Ok(());
    };
    let builder = context.create_builder();
    builder.position_before(&call);
    if cast.float == "f16" {
        float = builder.build_float_ext(float, context.f32_type(), "")?;
    }
    let converted = if fast && cast.integer.get_bit_width() > 32 && cast.float != "f64" {
        let (kind, fits) = match cast.signed {
            true => ("s", ".reg .f32 %a; abs.f32 %a, $1; setp.lt.f32 %p, %a, 0f4F000000;"),
            false => ("u", "setp.lt.f32 %p, $1, 0f4F800000;"),
        };
        // With a predicate on the conversion itself, ptxas converts twice and chooses; of a jump it makes a predicate.
        let text = format!(
            "{{ .reg .pred %p; .reg .b32 %w; {fits} cvt.rzi.{kind}32.f32 %w, $1; cvt.{kind}64.{kind}32 $0, %w; \
             @%p bra FITS; cvt.rzi.{kind}64.f32 $0, $1; FITS: }}"
        );
        assembly(context, &builder, context.i64_type().into(), float.into(), &text, "=&l,f")?.into_int_value()
    } else {
        let converted = integer(&builder, module, &cast.intrinsic(ftz), &[float.into()])?;
        let Some(converted) = converted else { return Ok(()) };
        converted
    };
    let Some(value) = within(module, &builder, &cast, float, converted)? else { return Ok(()) };
    llvm::replace_uses(call, value.into());
    call.erase_from_basic_block();
    Ok(())
}

/// Whether an integer of 64 bits that becomes an `f32` has a sign; `None` for anything else.
fn from_wide(cast: InstructionValue<'_>) -> Option<bool> {
    let signed = match cast.get_opcode() {
        InstructionOpcode::SIToFP => true,
        InstructionOpcode::UIToFP => false,
        _ => return None,
    };
    let is_single = matches!(cast.get_type(), AnyTypeEnum::FloatType(ty) if ty.get_bit_width() == 32);
    let (_, operand) = llvm::value_operands(cast).next()?;
    let is_wide = matches!(operand, BasicValueEnum::IntValue(operand) if operand.get_type().get_bit_width() == 64);
    (is_single && is_wide).then_some(signed)
}

/// Makes a float of the lower half, if that is all.
fn to_float<'ctx>(context: &'ctx Context, cast: InstructionValue<'ctx>, signed: bool) -> Result<(), BuilderError> {
    let Some((_, operand)) = llvm::value_operands(cast).next() else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&cast);
    let (kind, above) = if signed { ("s", "shr.s32 %a, %w, 31;") } else { ("u", "mov.b32 %a, 0;") };
    let text = format!(
        "{{ .reg .pred %p; .reg .b32 %w, %h, %a; mov.b64 {{%w, %h}}, $1; {above} setp.ne.u32 %p, %h, %a; \
         cvt.rn.f32.{kind}32 $0, %w; @%p cvt.rn.f32.{kind}64 $0, $1; }}"
    );
    let value = assembly(context, &builder, context.f32_type().into(), operand, &text, "=&f,l")?;
    llvm::replace_uses(cast, value);
    cast.erase_from_basic_block();
    Ok(())
}

/// Writes PTX that computes a value of another.
fn assembly<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    ty: BasicTypeEnum<'ctx>,
    operand: BasicValueEnum<'ctx>,
    text: &str,
    constraints: &str,
) -> Result<BasicValueEnum<'ctx>, BuilderError> {
    let ty = ty.fn_type(&[operand.get_type().into()], false);
    let assembly = context.create_inline_asm(ty, text.to_owned(), constraints.to_owned(), false, false, None, false);
    let call = builder.build_indirect_call(ty, assembly, &[operand.into()], "")?;
    llvm::promise_pure(context, call);
    Ok(call.try_as_basic_value().unwrap_basic())
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
    let limits: &[(&str, u64)] =
        if cast.signed { &[("llvm.smin", most), ("llvm.smax", !most)] } else { &[("llvm.umin", most)] };
    for (operation, limit) in limits {
        let limit = ty.const_int(*limit, true);
        let name = format!("{operation}.i{}", ty.get_bit_width());
        let Some(limited) = integer(builder, module, &name, &[value.into(), limit.into()])? else { return Ok(None) };
        value = limited;
    }
    builder.build_int_truncate(value, cast.integer, "").map(Some)
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
    use crate::llvm::parse_ir;

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
            lower(&context, &module, (ftz, false), instruction).expect("it is replaced");
        }
        module.verify().expect("the module is sound");
        module.print_to_string().to_string()
    }

    #[test]
    fn conversions_of_64_bits_try_32_first() {
        let after = |body: &str| {
            let context = Context::create();
            let text = format!(
                "declare i64 @llvm.fptoui.sat.i64.f32(float)
                declare i64 @llvm.fptosi.sat.i64.f32(float)
                declare i64 @llvm.fptoui.sat.i64.f64(double)
                define void @f(ptr %to, float %x, double %y, i64 %n, i32 %k) {{ {body}\n store volatile i64 %n, ptr %to
                  ret void }}"
            );
            let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            let function = module.get_function("f").expect("it defines `f`");
            for instruction in llvm::instructions(function).collect::<Vec<_>>() {
                lower(&context, &module, (false, true), instruction).expect("it is replaced");
            }
            module.verify().expect("the module is sound");
            module.print_to_string().to_string()
        };
        for (body, expected) in [
            ("%i = call i64 @llvm.fptoui.sat.i64.f32(float %x)", "@%p bra FITS; cvt.rzi.u64.f32 $0, $1;"),
            ("%i = call i64 @llvm.fptosi.sat.i64.f32(float %x)", "@%p bra FITS; cvt.rzi.s64.f32 $0, $1;"),
            ("%i = uitofp i64 %n to float", "@%p cvt.rn.f32.u64 $0, $1;"),
            ("%i = sitofp i64 %n to float", "@%p cvt.rn.f32.s64 $0, $1;"),
        ] {
            let ir = after(body);
            assert!(ir.contains(expected), "{ir}");
            // What NaN becomes is still chosen.
            assert_eq!(ir.contains("select"), body.contains("sat"), "{ir}");
        }
        for body in [
            "%i = call i64 @llvm.fptoui.sat.i64.f64(double %y)",
            "%i = uitofp i64 %n to double",
            "%i = uitofp i32 %k to float",
        ] {
            assert!(!after(body).contains("asm"), "{body}");
        }
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

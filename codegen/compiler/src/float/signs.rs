//! A minus and an absolute value change the sign of a NaN, and nothing else of it, wherever somebody can see its bits.
//!
//! ```text
//! before: %n = fneg float %x                          %a = call float @llvm.fabs.f32(float %x)
//!         store float %n, ptr %p                      store float %a, ptr %p
//! after:  %b = bitcast float %x to i32                %b = bitcast float %x to i32
//!         %s = xor i32 %b, -2147483648                %s = and i32 %b, 2147483647
//!         %n = bitcast i32 %s to float                %a = bitcast i32 %s to float
//! ```
//!
//! Rust and LLVM say so of both (IEEE 754-2019, 5.5.1), and LLVM makes them of operations on bits. PTX leaves open which NaN
//! `neg` and `abs` give ("Floating-Point Instructions"), and on an H200 it is 0x7fffffff. Where only arithmetic uses the
//! result, or made the number, it stays: there an instruction takes the minus as a modifier, and which NaN results is open
//! anyway. So it does where subnormal numbers are flushed: `neg.ftz` flushes, as nvcc has it.

use crate::llvm::{
    self, BasicTypeEnum, BasicValueEnum, Builder, BuilderError, Context, FloatType, InstructionOpcode,
    InstructionValue, IntType, IntValue, Use, VectorType,
};

/// Writes a minus or an absolute value as an operation on bits if more than arithmetic uses it.
pub fn keep_nan<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    ftz: bool,
    instruction: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some(change) = Change::of(instruction) else { return Ok(()) };
    let Some(operand) = instruction.get_operand(0).and_then(|operand| operand.value()) else { return Ok(()) };
    let element = match operand.get_type() {
        BasicTypeEnum::FloatType(ty) => ty,
        BasicTypeEnum::VectorType(ty) if ty.get_element_type().is_float_type() => {
            ty.get_element_type().into_float_type()
        }
        _ => return Ok(()),
    };
    let is_flushed = ftz && element.get_bit_width() == 32;
    let Some(bits) = integer(context, element) else { return Ok(()) };
    if is_flushed || is_open(operand) || !is_observed(instruction, &mut Vec::new()) {
        return Ok(());
    }
    let mask = change.mask(bits);
    builder.position_before(&instruction);
    let changed: BasicValueEnum<'ctx> = match operand {
        BasicValueEnum::VectorValue(vector) => {
            let lanes = vector.get_type().get_size();
            let number = builder.build_bit_cast(vector, bits.vec_type(lanes), "")?.into_vector_value();
            let mask = VectorType::const_vector(&vec![mask; lanes as usize]);
            match change {
                Change::Negate => builder.build_xor(number, mask, "")?.into(),
                Change::Clear => builder.build_and(number, mask, "")?.into(),
            }
        }
        operand => {
            let number = builder.build_bit_cast(operand, bits, "")?.into_int_value();
            match change {
                Change::Negate => builder.build_xor(number, mask, "")?.into(),
                Change::Clear => builder.build_and(number, mask, "")?.into(),
            }
        }
    };
    let result = builder.build_bit_cast(changed, operand.get_type(), "")?;
    llvm::replace_uses(instruction, result);
    instruction.erase_from_basic_block();
    Ok(())
}

/// What becomes of the sign.
#[derive(Clone, Copy)]
enum Change {
    Negate,
    Clear,
}

impl Change {
    fn of(instruction: InstructionValue<'_>) -> Option<Self> {
        match instruction.get_opcode() {
            InstructionOpcode::FNeg => Some(Self::Negate),
            InstructionOpcode::Call if llvm::calls(instruction, &["llvm.fabs."]) => Some(Self::Clear),
            _ => None,
        }
    }

    /// What a number's bits are combined with, by exclusive or and by and.
    fn mask(self, bits: IntType<'_>) -> IntValue<'_> {
        let sign = 1_u64 << (bits.get_bit_width() - 1);
        match self {
            Self::Negate => bits.const_int(sign, false),
            Self::Clear => bits.const_int(sign - 1, false),
        }
    }
}

/// The integers of the same width.
fn integer<'ctx>(context: &'ctx Context, ty: FloatType<'ctx>) -> Option<IntType<'ctx>> {
    match ty.get_bit_width() {
        16 => Some(context.i16_type()),
        32 => Some(context.i32_type()),
        64 => Some(context.i64_type()),
        _ => None,
    }
}

/// Intrinsics that make a number of numbers, of which the NaN is open.
const ARITHMETIC: &[&str] = &[
    "llvm.ceil.",
    "llvm.cos.",
    "llvm.exp2.",
    "llvm.floor.",
    "llvm.fma.",
    "llvm.fmuladd.",
    "llvm.fptosi.",
    "llvm.fptoui.",
    "llvm.is.fpclass.",
    "llvm.log2.",
    "llvm.max",
    "llvm.min",
    "llvm.nearbyint.",
    "llvm.rint.",
    "llvm.round",
    "llvm.sin.",
    "llvm.sqrt.",
    "llvm.trunc.",
    "llvm.nvvm.add.",
    "llvm.nvvm.ceil.",
    "llvm.nvvm.cos.",
    "llvm.nvvm.d2",
    "llvm.nvvm.div.",
    "llvm.nvvm.ex2.",
    "llvm.nvvm.f2",
    "llvm.nvvm.floor.",
    "llvm.nvvm.fma.",
    "llvm.nvvm.fmax.",
    "llvm.nvvm.fmin.",
    "llvm.nvvm.lg2.",
    "llvm.nvvm.mul.",
    "llvm.nvvm.rcp.",
    "llvm.nvvm.rsqrt.",
    "llvm.nvvm.sin.",
    "llvm.nvvm.sqrt.",
    "llvm.nvvm.trunc.",
];

/// Whether the number comes from arithmetic and goes nowhere else, so that nobody can tell which NaN it was.
fn is_open(operand: BasicValueEnum<'_>) -> bool {
    llvm::instruction_of(operand).is_some_and(|from| is_arithmetic(from) && llvm::uses(&from).len() == 1)
}

/// Whether it is left open which NaN an instruction gives.
pub(super) fn is_arithmetic(instruction: InstructionValue<'_>) -> bool {
    match instruction.get_opcode() {
        InstructionOpcode::FAdd
        | InstructionOpcode::FSub
        | InstructionOpcode::FMul
        | InstructionOpcode::FDiv
        | InstructionOpcode::FRem
        | InstructionOpcode::FPTrunc
        | InstructionOpcode::FPExt => true,
        InstructionOpcode::Call => llvm::calls(instruction, ARITHMETIC) || is_left_to_ptxas(instruction),
        _ => false,
    }
}

/// Whether anything but arithmetic uses the result, also after choices and further signs.
pub(super) fn is_observed<'ctx>(value: InstructionValue<'ctx>, seen: &mut Vec<InstructionValue<'ctx>>) -> bool {
    if seen.contains(&value) {
        return false;
    }
    seen.push(value);
    llvm::uses(&value).into_iter().any(|user| {
        let Use::Instruction(user) = user else { return true };
        match user.get_opcode() {
            InstructionOpcode::FAdd
            | InstructionOpcode::FSub
            | InstructionOpcode::FMul
            | InstructionOpcode::FDiv
            | InstructionOpcode::FRem
            | InstructionOpcode::FCmp
            | InstructionOpcode::FPTrunc
            | InstructionOpcode::FPExt
            | InstructionOpcode::FPToSI
            | InstructionOpcode::FPToUI => false,
            InstructionOpcode::Phi
            | InstructionOpcode::Select
            | InstructionOpcode::Freeze
            | InstructionOpcode::FNeg => is_observed(user, seen),
            InstructionOpcode::Call if llvm::calls(user, &["llvm.fabs."]) => is_observed(user, seen),
            InstructionOpcode::Call => !llvm::calls(user, ARITHMETIC) && !is_left_to_ptxas(user),
            _ => true,
        }
    })
}

/// Sums and differences that [`super::lower`] has written as PTX.
fn is_left_to_ptxas(call: InstructionValue<'_>) -> bool {
    llvm::inline_assembly(call).is_some_and(|text| text.starts_with("add.") || text.starts_with("sub."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// The function with this body, of `%x` and `%p`, after it.
    fn kept(ftz: bool, body: &str) -> String {
        let context = Context::create();
        let text = format!(
            "declare float @llvm.fabs.f32(float)\ndeclare double @llvm.fabs.f64(double)\n\
             declare float @llvm.fma.f32(float, float, float)\ndeclare float @llvm.copysign.f32(float, float)\n\
             declare void @other(float)\n\
             define void @f(float %x, double %d, <2 x half> %v, ptr %p, i1 %c) {{\n{body}\nret void\n}}"
        );
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it defines `f`");
        let builder = context.create_builder();
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            keep_nan(&context, &builder, ftz, instruction).expect("it can be written");
        }
        module.verify().expect("it is well-formed");
        llvm::instructions(function).map(|i| i.to_string() + "\n").collect()
    }

    #[test]
    fn what_somebody_sees_is_an_operation_on_bits() {
        for (body, expected) in [
            ("%n = fneg float %x\nstore float %n, ptr %p", "xor i32 %1, -2147483648"),
            ("%n = fneg double %d\nstore double %n, ptr %p", "xor i64 %1, -9223372036854775808"),
            ("%n = fneg <2 x half> %v\nstore <2 x half> %n, ptr %p", "xor <2 x i16> %1, splat (i16 -32768)"),
            ("%n = call float @llvm.fabs.f32(float %x)\nstore float %n, ptr %p", "and i32 %1, 2147483647"),
            ("%n = call double @llvm.fabs.f64(double %d)\nstore double %n, ptr %p", "and i64 %1, 9223372036854775807"),
            ("%n = fneg float %x\n%b = bitcast float %n to i32\nstore i32 %b, ptr %p", "xor i32"),
            ("%n = fneg float %x\n%s = select i1 %c, float %n, float %x\nstore float %s, ptr %p", "xor i32"),
            ("%n = fneg float %x\ncall void @other(float %n)", "xor i32"),
            ("%n = fneg float %x\n%s = call float @llvm.copysign.f32(float 1.0, float %n)", "xor i32"),
            ("%n = fneg float %x\n%s = fadd float %n, 1.0\nstore float %n, ptr %p", "xor i32"),
        ] {
            let text = kept(false, body);
            assert!(text.contains(expected) && !text.contains("fneg") && !text.contains("fabs"), "{text}");
        }
    }

    #[test]
    fn what_arithmetic_made_for_it_alone_stays() {
        let sum = "%s = fadd float %x, 1.0\n%n = fneg float %s\nstore float %n, ptr %p";
        assert!(kept(false, sum).contains("fneg float %s"));
        assert!(!kept(false, &format!("{sum}\nstore volatile float %s, ptr %p")).contains("fneg"));
    }

    #[test]
    fn what_arithmetic_alone_uses_stays() {
        for body in [
            "%n = fneg float %x\n%s = fadd float %n, 1.0\nstore float %s, ptr %p",
            "%n = fneg float %x\n%s = call float @llvm.fma.f32(float %n, float %x, float %x)\nstore float %s, ptr %p",
            "%n = fneg float %x\n%s = select i1 %c, float %n, float %x\n%t = fmul float %s, %s\nstore float %t, ptr %p",
            "%n = fneg float %x\n%s = fcmp olt float %n, 1.0\nstore i1 %s, ptr %p",
            "%n = fneg float %x\n%s = call float asm \"sub.f32 $0, $1, $2;\", \"=f,f,f\"(float %n, float %x)",
        ] {
            assert!(kept(false, body).contains("fneg float %x"), "{body}");
        }
        assert!(kept(true, "%n = fneg float %x\nstore float %n, ptr %p").contains("fneg"), "flushed");
        assert!(kept(true, "%n = fneg double %d\nstore double %n, ptr %p").contains("xor"), "never flushed");
    }
}

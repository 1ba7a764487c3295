//! After optimising: what LLVM has only switches of a whole program for, or selects otherwise than nvcc.
//!
//! ```text
//! before: %q = fdiv afn float %a, %b                     (prec-div = false)
//!         %r = call afn float @llvm.sqrt.f32(float %a)   (prec-sqrt = false)
//!         %i = fdiv afn float 1.0, %r
//!         %d = fsub contract float %m, %c                (%m is a product, fmad)
//!         %n = call float @llvm.round.f32(float %a)
//! after:  %q = call float @llvm.nvvm.div.full(float %a, float %b)
//!         %r = call float @llvm.nvvm.sqrt.approx.f(float %a)
//!         %i = call float @llvm.nvvm.rsqrt.approx.f(float %a)
//!         %d = call float asm "sub.f32 $0, $1, $2;", "=f,f,f"(float %m, float %c)
//!         %h = call float @llvm.nvvm.add.rz.f(float %a, float (copysign 0.5, %a))
//!         %n = call float @llvm.trunc.f32(float %h)
//! ```
//!
//! Measured with nvcc 13.0: `div.full` for a quotient, `rcp.approx` for a reciprocal, `div.approx` only with the fast functions.
//! A difference of products is left to ptxas, as nvcc does: of `a * b - c * d` one product is rounded, and ptxas says which.
//! What is a difference is said by [`negate`]: `a * b - 1.0 / c` is a sum.
//! At opt-level 0 sums of products are left to ptxas as well: it fuses nothing there, as with `nvcc -G`, but LLVM would.
//! `trunc` and `rint` have no `.ftz`, since a subnormal number becomes a zero anyway.

use super::operations::{DENORMAL, Operation, operation, product};
use super::{casts, clamps, early, guarded, negate, roots, separate, signs, sink, zeros};
use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AnyTypeEnum, BasicMetadataValueEnum, BasicType, BasicTypeEnum, BasicValueEnum, Builder, BuilderError,
    Context, FloatFlags, FloatType, FloatValue, FunctionValue, InstructionOpcode, InstructionValue, Intrinsic, Module,
    Use,
};
use crate::marks::modes_of;
use crate::request::OptLevel;

/// `trunc` where a subnormal number is flushed anyway.
const TRUNCATE: &str = "cvt.rzi.f32.f32 $0, $1;";

/// The first arch with `max.NaN.f32` (PTX ISA, `max`).
const FIRST_WITH_NAN: u32 = 80;

/// Lowers every function.
pub fn lower<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch, level: OptLevel) -> Result<()> {
    for function in llvm::functions(module).filter(|f| f.count_basic_blocks() > 0) {
        let lowering = Lowering { context, module, ftz: is_flushing(function), level };
        if level != OptLevel::O0 {
            sink::sink(context, function);
        }
        if level.is_for_speed() {
            early::load(context, function);
            roots::keep_positive(context, function).map_err(failed)?;
        }
        // Divisions before the rest, for they look at the square roots, but after the signs of their numerators are known.
        for step in [Lowering::negate, Lowering::divide, Lowering::rest, Lowering::round] {
            for instruction in llvm::instructions(function).collect::<Vec<_>>() {
                step(&lowering, instruction).map_err(failed)?;
            }
        }
        // Behind the sums: one is fused with a product of its block.
        if level.is_for_speed() {
            guarded::branch(context, function).map_err(failed)?;
        }
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            casts::lower(context, module, lowering.ftz, instruction).map_err(failed)?;
        }
        // The instructions that flush would do so with the number as well.
        if level.is_for_speed() && !lowering.ftz && arch.number() >= FIRST_WITH_NAN {
            for instruction in llvm::instructions(function).collect::<Vec<_>>() {
                clamps::bound(context, module, instruction).map_err(failed)?;
            }
        }
        let builder = context.create_builder();
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            zeros::keep_sign(&builder, instruction).map_err(failed)?;
        }
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            signs::keep_nan(context, &builder, lowering.ftz, instruction).map_err(failed)?;
        }
    }
    Ok(())
}

/// Has the divisions of functions with the fast ones be those from the start, as nvcc has it: not even one by a power of two
/// is a multiplication then.
pub(super) fn divide_fast<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> Result<()> {
    let lowering = Lowering { context, module, ftz: modes_of(function).ftz, level: OptLevel::O0 };
    for instruction in llvm::instructions(function).collect::<Vec<_>>() {
        if operation(instruction) == Some(Operation::Divide) {
            lowering.divide_by(instruction, "llvm.nvvm.div.approx", ".f").map_err(failed)?;
        }
    }
    Ok(())
}

pub(super) fn failed(error: BuilderError) -> Diagnostic {
    Diagnostic::error(Code::LlvmFailed, format!("cannot write a floating-point operation: {error}"))
}

/// By LLVM's attribute, not by the modes: it decides about all the rest.
fn is_flushing(function: FunctionValue<'_>) -> bool {
    let attribute = function.get_string_attribute(llvm::AttributeLoc::Function, DENORMAL);
    attribute.is_some_and(|attribute| attribute.get_string_value().to_bytes().starts_with(b"preserve-sign"))
}

#[derive(Clone, Copy)]
struct Lowering<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    ftz: bool,
    level: OptLevel,
}

impl<'ctx> Lowering<'_, 'ctx> {
    fn negate(&self, instruction: InstructionValue<'ctx>) -> Result<(), BuilderError> {
        let is_difference = instruction.get_opcode() == InstructionOpcode::FSub;
        if is_difference && self.level != OptLevel::O0 { negate::make_sum(self.context, instruction) } else { Ok(()) }
    }

    fn divide(&self, instruction: InstructionValue<'ctx>) -> Result<(), BuilderError> {
        if operation(instruction) != Some(Operation::Divide) {
            return Ok(());
        }
        if llvm::float_flags(instruction).approximate {
            return self.divide_by(instruction, "llvm.nvvm.div.full", "");
        }
        // LLVM would make `rsqrt.approx` of it, of which the division is no correctly rounded one.
        self.for_lanes(instruction, |builder, operands| match operands {
            [one, root] if is_one(*one) && approximated_root(*root).is_some() => {
                self.call(builder, "llvm.nvvm.rcp.rn", ".f", &[*root])
            }
            _ => Ok(None),
        })
    }

    fn divide_by(&self, division: InstructionValue<'ctx>, name: &str, end: &str) -> Result<(), BuilderError> {
        self.for_lanes(division, |builder, operands| {
            let [numerator, denominator] = operands[..] else { return Ok(None) };
            if is_one(numerator) {
                if let Some(radicand) = approximated_root(denominator) {
                    return self.call(builder, "llvm.nvvm.rsqrt.approx", ".f", &[radicand]);
                }
                let reciprocal = builder.build_float_div(numerator, denominator, "")?;
                if let Some(instruction) = reciprocal.as_instruction() {
                    // LLVM's own choice for this one is nvcc's.
                    llvm::set_float_flags(instruction, FloatFlags { contract: false, approximate: true });
                }
                return Ok(Some(reciprocal));
            }
            self.call(builder, name, end, &[numerator, denominator])
        })
    }

    fn rest(&self, instruction: InstructionValue<'ctx>) -> Result<(), BuilderError> {
        match instruction.get_opcode() {
            InstructionOpcode::FSub if may_meet_product(instruction) => {
                self.for_lanes(instruction, |builder, operands| self.leave_to_ptxas("sub", builder, operands))
            }
            InstructionOpcode::FAdd if may_meet_product(instruction) => match fusible_product(instruction) {
                Some((product, other)) if self.level != OptLevel::O0 => self.fuse(instruction, product, other),
                _ => self.for_lanes(instruction, |builder, operands| self.leave_to_ptxas("add", builder, operands)),
            },
            InstructionOpcode::Call if operation(instruction) == Some(Operation::SquareRoot) => {
                if llvm::float_flags(instruction).approximate {
                    self.for_lanes(instruction, |builder, operands| {
                        self.call(builder, "llvm.nvvm.sqrt.approx", ".f", operands)
                    })?;
                }
                Ok(())
            }
            // LLVM makes vectors of the scalar ones, which NVPTX alone has.
            InstructionOpcode::Call if is_canonicalized_vector(instruction) => {
                self.for_lanes(instruction, |builder, operands| self.general(builder, "llvm.canonicalize", operands))
            }
            InstructionOpcode::Call if is_rounded(instruction) => {
                self.for_lanes(instruction, |builder, operands| self.round_half_away(builder, operands[0]))
            }
            InstructionOpcode::Call if self.ftz => {
                let Some(callee) = llvm::called_function(instruction) else { return Ok(()) };
                let to_integer = match callee.get_name().to_bytes() {
                    b"llvm.trunc.f32" => TRUNCATE,
                    b"llvm.rint.f32" | b"llvm.nearbyint.f32" | b"llvm.roundeven.f32" => "cvt.rni.f32.f32 $0, $1;",
                    _ => return Ok(()),
                };
                self.for_lanes(instruction, |builder, operands| self.assembly(builder, to_integer, "=f,f", operands))
            }
            _ => Ok(()),
        }
    }

    /// As libdevice's `roundf` and `round`: a half with the number's sign is added, and the fraction cut off. The sum is rounded
    /// towards zero, so that it does not reach an integer that it is below.
    fn round_half_away(
        &self,
        builder: &Builder<'ctx>,
        value: FloatValue<'ctx>,
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        let ty = value.get_type();
        let Some(half) = self.general(builder, "llvm.copysign", &[ty.const_float(0.5), value])? else {
            return Ok(None);
        };
        let is_double = ty.get_bit_width() == 64;
        let sum = if is_double {
            self.intrinsic(builder, "llvm.nvvm.add.rz.d", &[value, half])?
        } else {
            self.call(builder, "llvm.nvvm.add.rz", ".f", &[value, half])?
        };
        match sum {
            Some(sum) if self.ftz && !is_double => self.assembly(builder, TRUNCATE, "=f,f", &[sum]),
            Some(sum) => self.general(builder, "llvm.trunc", &[sum]),
            None => Ok(None),
        }
    }

    /// Replaces a sum by one operation; the product goes if nothing else uses it.
    fn fuse(
        &self,
        sum: InstructionValue<'ctx>,
        product: InstructionValue<'ctx>,
        other: BasicValueEnum<'ctx>,
    ) -> Result<(), BuilderError> {
        let factor = |index| product.get_operand(index).and_then(|operand| operand.value());
        let (Some(a), Some(b)) = (factor(0), factor(1)) else { return Ok(()) };
        let fma = Intrinsic::find("llvm.fma").and_then(|fma| fma.get_declaration(self.module, &[other.get_type()]));
        let Some(fma) = fma else { return Ok(()) };
        let builder = self.context.create_builder();
        builder.position_before(&sum);
        let call = builder.build_call(fma, &[a.into(), b.into(), other.into()], "")?;
        if let Some(fused) = call.try_as_basic_value().basic() {
            llvm::replace_uses(sum, fused);
            sum.erase_from_basic_block();
            if llvm::uses(&product).is_empty() {
                product.erase_from_basic_block();
            }
        }
        Ok(())
    }

    /// Makes of an operation that was kept apart the instruction that rounds to nearest and is not fused.
    fn round(&self, call: InstructionValue<'ctx>) -> Result<(), BuilderError> {
        let Some(operation) = separate::hidden(call) else { return Ok(()) };
        let operand = |index| match call.get_operand(index)?.value()? {
            BasicValueEnum::FloatValue(value) => Some(value),
            _ => None,
        };
        let (Some(left), Some(right)) = (operand(0), operand(1)) else { return Ok(()) };
        let builder = self.context.create_builder();
        builder.position_before(&call);
        let value = match (operation, left.get_type().get_bit_width()) {
            // There is no intrinsic. A difference with a product that may be fused is none of LLVM's by now, see `rest`.
            ("sub", _) => Some(builder.build_float_sub(left, right, "")?),
            (_, 64) => self.intrinsic(&builder, &format!("llvm.nvvm.{operation}.rn.d"), &[left, right])?,
            _ => self.call(&builder, &format!("llvm.nvvm.{operation}.rn"), ".f", &[left, right])?,
        };
        if let Some(value) = value {
            llvm::replace_uses(call, value.into());
            call.erase_from_basic_block();
        }
        Ok(())
    }

    fn leave_to_ptxas(
        &self,
        operation: &str,
        builder: &Builder<'ctx>,
        operands: &[FloatValue<'ctx>],
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        let (form, constraints) = match (operands[0].get_type().get_bit_width(), self.ftz) {
            (64, _) => ("f64", "=d,d,d"),
            (_, true) => ("ftz.f32", "=f,f,f"),
            (_, false) => ("f32", "=f,f,f"),
        };
        self.assembly(builder, &format!("{operation}.{form} $0, $1, $2;"), constraints, operands)
    }

    /// Replaces an instruction by what `write` makes of its operands, for each lane of a vector.
    fn for_lanes(
        &self,
        instruction: InstructionValue<'ctx>,
        write: impl Fn(&Builder<'ctx>, &[FloatValue<'ctx>]) -> Result<Option<FloatValue<'ctx>>, BuilderError>,
    ) -> Result<(), BuilderError> {
        let count = if instruction.get_opcode() == InstructionOpcode::Call { 1 } else { 2 };
        let operands: Vec<BasicValueEnum<'ctx>> =
            (0..count).filter_map(|index| instruction.get_operand(index)?.value()).collect();
        let builder = self.context.create_builder();
        builder.position_before(&instruction);
        let new: Option<BasicValueEnum<'ctx>> = match instruction.get_type() {
            AnyTypeEnum::VectorType(ty) => {
                let mut vector = ty.get_undef();
                for lane in 0..ty.get_size() {
                    let index = self.context.i32_type().const_int(lane.into(), false);
                    let mut lanes = Vec::new();
                    for operand in &operands {
                        let element = builder.build_extract_element(operand.into_vector_value(), index, "")?;
                        lanes.push(element.into_float_value());
                    }
                    let Some(value) = write(&builder, &lanes)? else { return Ok(()) };
                    vector = builder.build_insert_element(vector, value, index, "")?;
                }
                Some(vector.into())
            }
            _ => {
                let operands: Vec<_> = operands.iter().map(|operand| operand.into_float_value()).collect();
                write(&builder, &operands)?.map(Into::into)
            }
        };
        if let Some(new) = new {
            llvm::replace_uses(instruction, new);
            instruction.erase_from_basic_block();
        }
        Ok(())
    }

    /// Calls one of LLVM's intrinsics for NVPTX, with `.ftz` where the function has it.
    fn call(
        &self,
        builder: &Builder<'ctx>,
        name: &str,
        end: &str,
        operands: &[FloatValue<'ctx>],
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        self.intrinsic(builder, &format!("{name}{}{end}", if self.ftz { ".ftz" } else { "" }), operands)
    }

    fn intrinsic(
        &self,
        builder: &Builder<'ctx>,
        name: &str,
        operands: &[FloatValue<'ctx>],
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        self.of_types(builder, name, &[], operands)
    }

    /// Calls one of LLVM's intrinsics that is there for every type of float.
    fn general(
        &self,
        builder: &Builder<'ctx>,
        name: &str,
        operands: &[FloatValue<'ctx>],
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        self.of_types(builder, name, &[operands[0].get_type().into()], operands)
    }

    fn of_types(
        &self,
        builder: &Builder<'ctx>,
        name: &str,
        types: &[BasicTypeEnum<'ctx>],
        operands: &[FloatValue<'ctx>],
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        let Some(callee) = Intrinsic::find(name).and_then(|i| i.get_declaration(self.module, types)) else {
            return Ok(None);
        };
        let operands: Vec<BasicMetadataValueEnum<'ctx>> = operands.iter().map(|operand| (*operand).into()).collect();
        let call = builder.build_call(callee, &operands, "")?;
        Ok(call.try_as_basic_value().basic().map(BasicValueEnum::into_float_value))
    }

    fn assembly(
        &self,
        builder: &Builder<'ctx>,
        code: &str,
        constraints: &str,
        operands: &[FloatValue<'ctx>],
    ) -> Result<Option<FloatValue<'ctx>>, BuilderError> {
        let ty: FloatType<'ctx> = operands[0].get_type();
        let params: Vec<_> = operands.iter().map(|_| ty.as_basic_type_enum().into()).collect();
        let function = ty.fn_type(&params, false);
        let assembly =
            self.context.create_inline_asm(function, code.into(), constraints.into(), false, false, None, false);
        let operands: Vec<BasicMetadataValueEnum<'ctx>> = operands.iter().map(|operand| (*operand).into()).collect();
        let call = builder.build_indirect_call(function, assembly, &operands, "")?;
        llvm::promise_pure(self.context, call);
        Ok(call.try_as_basic_value().basic().map(BasicValueEnum::into_float_value))
    }
}

/// Whether it is `f32::round` or `f64::round`, for which LLVM takes twice as many instructions.
fn is_rounded(call: InstructionValue<'_>) -> bool {
    let name = llvm::called_function(call).map(|callee| callee.get_name().to_string_lossy().into_owned());
    name.and_then(|name| name.strip_prefix("llvm.round.").map(|ty| ty.ends_with("f32") || ty.ends_with("f64")))
        == Some(true)
}

/// The operand of a sum that nvcc fuses with it, and the other operand. nvcc does not fuse a product that is needed anyway,
/// because something other than a sum uses it, nor one with five uses (`NVPTXISelLowering.cpp`, which libNVVM has too).
/// Those are ptxas's to decide about.
fn fusible_product<'ctx>(sum: InstructionValue<'ctx>) -> Option<(InstructionValue<'ctx>, BasicValueEnum<'ctx>)> {
    let operand = |index| sum.get_operand(index).and_then(|operand| operand.value());
    let operands = [operand(0)?, operand(1)?];
    [(0, 1), (1, 0)].into_iter().find_map(|(index, other)| {
        let product = product(operands[index]).filter(|product| product.get_parent() == sum.get_parent())?;
        let uses = llvm::uses(&product);
        let is_sum = |user: &Use<'_>| match user {
            Use::Instruction(user) => {
                user.get_opcode() == InstructionOpcode::FAdd && user.get_parent() == sum.get_parent()
            }
            Use::Global(_) => false,
        };
        (uses.len() < 5 && uses.iter().all(is_sum)).then_some((product, operands[other]))
    })
}

fn is_canonicalized_vector(call: InstructionValue<'_>) -> bool {
    llvm::called_function(call).is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.canonicalize.v"))
}

fn is_one(value: FloatValue<'_>) -> bool {
    value.get_constant().is_some_and(|(value, _)| value == 1.0)
}

/// What an approximated square root is taken of.
fn approximated_root(value: FloatValue<'_>) -> Option<FloatValue<'_>> {
    let root = value.as_instruction()?;
    if operation(root) != Some(Operation::SquareRoot) || !llvm::float_flags(root).approximate {
        return None;
    }
    match root.get_operand(0)?.value()? {
        BasicValueEnum::FloatValue(radicand) => Some(radicand),
        _ => None,
    }
}

/// A sum or difference of single or double precision that may be fused with a product.
fn may_meet_product(instruction: InstructionValue<'_>) -> bool {
    let width = |ty: FloatType<'_>| matches!(ty.get_bit_width(), 32 | 64);
    let wide = match instruction.get_type() {
        AnyTypeEnum::FloatType(ty) => width(ty),
        AnyTypeEnum::VectorType(ty) => match ty.get_element_type() {
            BasicTypeEnum::FloatType(ty) => width(ty),
            _ => false,
        },
        _ => false,
    };
    wide && llvm::float_flags(instruction).contract
        && (0..2).filter_map(|index| instruction.get_operand(index)?.value()).any(|operand| product(operand).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// A product of two sums is fused with both, or with neither, wherever a quotient of one is looked at.
    #[test]
    fn sums_are_fused_before_branches_part_them() {
        let context = Context::create();
        let text = "define float @f(float %x, float %y, float %z, ptr %p) {
              %m = fmul contract float %x, %y
              %s1 = fadd contract float %m, %z
              %s2 = fadd contract float %m, 2.5
              store float %s2, ptr %p
              %q = fdiv contract float 1.5, %s1
              %c = fcmp ogt float %z, 0.0
              %v = select i1 %c, float %q, float 3.0
              ret float %v
            }";
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        lower(&context, &module, "sm_90".parse().expect("an arch"), OptLevel::O3).expect("it is lowered");
        module.verify().expect("the module is sound");
        let ir = module.print_to_string().to_string();
        assert_eq!((ir.matches("call float @llvm.fma.f32").count(), ir.matches("br i1").count()), (2, 1), "{ir}");
    }
}

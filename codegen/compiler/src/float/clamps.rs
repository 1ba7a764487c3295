//! Writes the halves of `x.clamp(0.0, 255.0)` as a maximum and a minimum, each of which is one instruction.
//!
//! ```text
//! before: %l = fcmp olt float %x, 0.0
//!         %a = select i1 %l, float 0.0, float %x
//! after:  %a = call float @llvm.maximum.f32(float %x, float 0.0)
//! ```
//!
//! Of a number that is none, Rust's `clamp` gives that number, `f32::max` the bound. PTX has both, `max.NaN.f32` and `max.f32`, the
//! first from sm_80 on (PTX ISA, `max`); LLVM writes a comparison and a choice.
//!
//! **Why it is right.** Both give the bound where the number is beyond it, and otherwise the number, but for two cases. The
//! instruction gives one NaN for all: so nobody may be able to tell which it was. And of two zeros it gives
//! 0.0 as the maximum and -0.0 as the minimum, where the choice gives the number's: so that must not be the other one. The bound is
//! never a NaN, which the instruction would give.

use super::signs;
use crate::llvm::{
    self, BasicValueEnum, BuilderError, Context, FloatPredicate as Is, FloatValue, InstructionOpcode as Op,
    InstructionValue, Intrinsic, Module, Use,
};

/// A sum with a number that is at least so large is 0.0, or no subnormal number, wherever it is next to 0.
const NOT_TINY: f64 = 1e-20;

/// Replaces a choice that is such a half; leaves everything else.
pub fn bound<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    select: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some(half) = Half::of(context, select) else { return Ok(()) };
    let name = if half.is_maximum { "llvm.maximum" } else { "llvm.minimum" };
    let ty = half.number.get_type();
    let Some(callee) = Intrinsic::find(name).and_then(|of| of.get_declaration(module, &[ty.into()])) else {
        return Ok(());
    };
    let builder = context.create_builder();
    builder.position_before(&select);
    let call = builder.build_call(callee, &[half.number.into(), half.bound.into()], "")?;
    if let Some(value) = call.try_as_basic_value().basic() {
        llvm::replace_uses(select, value);
        select.erase_from_basic_block();
    }
    Ok(())
}

struct Half<'ctx> {
    number: FloatValue<'ctx>,
    bound: FloatValue<'ctx>,
    is_maximum: bool,
}

impl<'ctx> Half<'ctx> {
    fn of(context: &'ctx Context, select: InstructionValue<'ctx>) -> Option<Self> {
        if select.get_opcode() != Op::Select {
            return None;
        }
        let comparison = llvm::instruction_of(llvm::operand(select, 0)?)?;
        let [mut chosen, mut other] = [1, 2].map(|at| float(context, select, at));
        let is_less = match comparison.get_fcmp_predicate()? {
            Is::OLT => true,
            Is::OGT => false,
            opposite @ (Is::UGE | Is::ULE) => {
                std::mem::swap(&mut chosen, &mut other);
                opposite == Is::UGE
            }
            _ => return None,
        };
        let (bound, number) = (chosen?, other?);
        let compared = [0, 1].map(|at| float(context, comparison, at));
        let is_maximum = match compared {
            [Some(left), Some(right)] if (left, right) == (number, bound) => is_less,
            [Some(left), Some(right)] if (left, right) == (bound, number) => !is_less,
            _ => return None,
        };
        let half = Self { number, bound, is_maximum };
        (half.has_the_same_zero() && has_open_nan(number, comparison, select)).then_some(half)
    }

    /// Whether the bound is a number, and gives no zero for the number's other one.
    fn has_the_same_zero(&self) -> bool {
        match (self.bound.get_constant(), self.is_maximum) {
            (Some((bound, _)), _) if bound.is_nan() => false,
            (Some((bound, _)), true) => bound != 0.0 || bound.is_sign_negative() || !may_be_negative_zero(self.number),
            (Some((bound, _)), false) => bound != 0.0 || bound.is_sign_positive(),
            (None, true) => is_of_integer(self.bound) && !may_be_negative_zero(self.number),
            (None, false) => is_of_integer(self.bound),
        }
    }
}

/// An operand that is an `f32`; there is no such instruction for an `f64`.
fn float<'ctx>(context: &'ctx Context, of: InstructionValue<'ctx>, at: u32) -> Option<FloatValue<'ctx>> {
    match llvm::operand(of, at)? {
        BasicValueEnum::FloatValue(value) if value.get_type() == context.f32_type() => Some(value),
        _ => None,
    }
}

/// Whether a number comes from an integer, and so is none of NaN and -0.0.
fn is_of_integer(number: FloatValue<'_>) -> bool {
    llvm::instruction_of(number.into()).is_some_and(|from| matches!(from.get_opcode(), Op::UIToFP | Op::SIToFP))
}

/// Whether nobody can tell which NaN a choice gives: arithmetic made it for this alone, or alone uses it.
fn has_open_nan<'ctx>(
    number: FloatValue<'ctx>,
    comparison: InstructionValue<'ctx>,
    select: InstructionValue<'ctx>,
) -> bool {
    let is_for_this = |user: Use<'ctx>| matches!(user, Use::Instruction(user) if user == comparison || user == select);
    let is_made = llvm::instruction_of(number.into())
        .is_some_and(|from| signs::is_arithmetic(from) && llvm::uses(&from).into_iter().all(is_for_this));
    is_of_integer(number) || is_made || !signs::is_observed(select, &mut Vec::new())
}

/// Whether a number may be -0.0: a sum with a number that is none is 0.0 where it is a zero (IEEE 754-2019, 6.3).
fn may_be_negative_zero(number: FloatValue<'_>) -> bool {
    let Some(from) = llvm::instruction_of(number.into()) else { return true };
    let constant = |at| match llvm::operand(from, at) {
        Some(BasicValueEnum::FloatValue(value)) => value.get_constant().map(|(value, _)| value),
        _ => None,
    };
    let is_large = |at| constant(at).is_some_and(|value| value.abs() > NOT_TINY);
    match from.get_opcode() {
        Op::UIToFP | Op::SIToFP => false,
        Op::FAdd => !is_large(0) && !is_large(1),
        Op::FSub => !is_large(1),
        Op::Call if llvm::calls(from, &["llvm.fma.", "llvm.fmuladd."]) => !is_large(2),
        Op::Call if llvm::calls(from, &["llvm.maximum."]) => {
            !constant(1).is_some_and(|value| value > 0.0 || value == 0.0 && value.is_sign_positive())
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function that makes `%m` of `%x`, after [`bound`].
    fn bounded(body: &str, users: &str) -> String {
        let text = format!(
            "define float @f(float %a, float %y, i32 %w, ptr %to) {{
              %x = fadd float %a, -0.5
              %f = uitofp i32 %w to float
              {body}
              {users}
              %r = fadd float %m, 1.0
              ret float %r
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let function = module.get_function("f").unwrap();
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            bound(&context, &module, instruction).unwrap();
        }
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    /// By a comparison and a choice.
    fn by(comparison: &str, choice: &str) -> String {
        format!("%c = fcmp {comparison}\n %m = select i1 %c, {choice}")
    }

    #[test]
    fn what_is_below_a_bound_is_a_maximum() {
        for (comparison, choice) in [
            ("olt float %x, 0.0", "float 0.0, float %x"),
            ("ogt float 0.0, %x", "float 0.0, float %x"),
            ("uge float %x, 0.0", "float %x, float 0.0"),
            ("ule float 2.0, %x", "float %x, float 2.0"),
            ("olt float %x, %f", "float %f, float %x"),
            ("olt float %a, 1.0", "float 1.0, float %a"),
            ("olt float %a, -0.0", "float -0.0, float %a"),
        ] {
            let ir = bounded(&by(comparison, choice), "");
            assert!(ir.contains("@llvm.maximum.f32") && !ir.contains("select"), "{ir}");
        }
    }

    #[test]
    fn what_is_above_a_bound_is_a_minimum() {
        for (comparison, choice) in [
            ("ogt float %x, %f", "float %f, float %x"),
            ("ogt float %a, %f", "float %f, float %a"),
            ("ule float %a, 255.0", "float %a, float 255.0"),
            ("olt float 0.0, %a", "float 0.0, float %a"),
            ("uge float %f, %a", "float %a, float %f"),
        ] {
            let ir = bounded(&by(comparison, choice), "");
            assert!(ir.contains("@llvm.minimum.f32") && !ir.contains("select"), "{ir}");
        }
        // Both halves of a `clamp`, whose result is stored: arithmetic made the number.
        let both = "%c = fcmp olt float %x, 0.0
            %l = select i1 %c, float 0.0, float %x
            %d = fcmp ogt float %l, %f
            %m = select i1 %d, float %f, float %l";
        let ir = bounded(both, "store float %m, ptr %to");
        assert!(ir.contains("@llvm.maximum.f32") && ir.contains("@llvm.minimum.f32"), "{ir}");
    }

    #[test]
    fn others_are_chosen() {
        for (comparison, choice, users) in [
            // Of -0.0 and 0.0 the instruction gives the other one.
            ("olt float %a, 0.0", "float 0.0, float %a", ""),
            ("olt float %a, %f", "float %f, float %a", ""),
            ("ogt float %a, -0.0", "float -0.0, float %a", ""),
            // The bound may be a NaN, or the NaN is not the number's.
            ("olt float %x, %y", "float %y, float %x", ""),
            ("ult float %x, 1.0", "float 1.0, float %x", ""),
            ("oge float %x, 1.0", "float %x, float 1.0", ""),
            // Somebody sees which NaN it is.
            ("olt float %a, 1.0", "float 1.0, float %a", "store float %m, ptr %to"),
            ("olt float %x, 1.0", "float 1.0, float %x", "store float %m, ptr %to\n store float %x, ptr %to"),
            // No maximum of both.
            ("olt float %x, 1.0", "float 2.0, float %x", ""),
            ("olt float %x, 1.0", "float %x, float 1.0", ""),
        ] {
            let ir = bounded(&by(comparison, choice), users);
            assert!(ir.contains("select") && !ir.contains("@llvm.m"), "{ir}");
        }
    }
}

//! A difference of which a constant's sign can take the minus is a sum, as nvcc has it. LLVM does the same, but only while
//! it selects instructions, after [`super::lower`] has said which sums are fused.
//!
//! ```text
//! before: %q = fdiv double 1.0, %c
//!         %d = fsub contract double %m, %q           (%m is a product, fmad)
//! after:  %q = fdiv double -1.0, %c
//!         %d = fadd contract double %m, %q
//! ```
//!
//! As in LLVM, nothing else in the block may use the quotient, the product or the constant (`isNegatibleForFree` in
//! `DAGCombiner.cpp`, which libNVVM has too).

use crate::llvm::{self, BuilderError, Context, FloatValue, InstructionOpcode, InstructionValue};

/// How many operations LLVM looks through.
const DEPTH: u32 = 6;

/// Makes a sum of a difference of single or double precision where that costs nothing.
///
/// Also of one that is not to be fused: LLVM would do it, but of `1.0 / c` with `prec-div = false` it would make another
/// instruction than nvcc.
pub fn make_sum<'ctx>(context: &'ctx Context, difference: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let (Some(left), Some(right)) = (llvm::float_operand(difference, 0), llvm::float_operand(difference, 1)) else {
        return Ok(());
    };
    if !matches!(right.get_type().get_bit_width(), 32 | 64) {
        return Ok(());
    }
    let Some((user, index, constant)) = negatable(right, difference, DEPTH) else { return Ok(()) };
    let builder = context.create_builder();
    builder.position_before(&difference);
    let sum = builder.build_float_add(left, right, "")?;
    let Some(instruction) = sum.as_instruction() else { return Ok(()) };
    llvm::set_float_flags(instruction, llvm::float_flags(difference));
    user.set_operand(index, right.get_type().const_float(-constant));
    llvm::replace_uses(difference, sum.into());
    difference.erase_from_basic_block();
    Ok(())
}

/// The operand to be negated instead of a value that `user` uses: whose it is, which, and what it is now.
fn negatable<'ctx>(
    value: FloatValue<'ctx>,
    user: InstructionValue<'ctx>,
    depth: u32,
) -> Option<(InstructionValue<'ctx>, u32, f64)> {
    let instruction = value.as_instruction().filter(|i| i.get_parent() == user.get_parent())?;
    let is_product = instruction.get_opcode() == InstructionOpcode::FMul;
    if depth == 0
        || llvm::uses(&value).len() != 1
        || !(is_product || instruction.get_opcode() == InstructionOpcode::FDiv)
    {
        return None;
    }
    (0..2).find_map(|index| {
        let factor = llvm::float_operand(instruction, index)?;
        match constant(factor) {
            // LLVM has made a sum of twice a number, and a negation of the other, before it looks.
            Some(constant) if is_product && (constant == 2.0 || constant == -1.0) => None,
            Some(constant) => is_used_once(factor, instruction).then_some((instruction, index, constant)),
            None => negatable(factor, instruction, depth - 1),
        }
    })
}

/// Whether a constant stands only once in the block of its user.
fn is_used_once(constant: FloatValue<'_>, user: InstructionValue<'_>) -> bool {
    let mut next = user.get_parent().and_then(|block| block.get_first_instruction());
    let mut count = 0;
    while let Some(instruction) = next {
        count += (0..instruction.get_num_operands())
            .filter(|index| llvm::float_operand(instruction, *index) == Some(constant))
            .count();
        next = instruction.get_next_instruction();
    }
    count == 1
}

fn constant(value: FloatValue<'_>) -> Option<f64> {
    if llvm::is_undefined(&value) {
        return None;
    }
    value.get_constant().map(|(constant, _)| constant).filter(|constant| !constant.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// What becomes of `%d`, and of all before it.
    fn summed(body: &str) -> String {
        let context = Context::create();
        let text = format!(
            "define double @f(double %a, double %b, double %c) {{\n%m = fmul contract double %a, %b\n{body}\nret double %d\n}}"
        );
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        let function = module.get_function("f").expect("it defines `f`");
        let difference = llvm::instructions(function).find(|i| i.get_name().is_some_and(|name| name == c"d"));
        make_sum(&context, difference.expect("there is a `%d`")).expect("it can be written");
        module.print_to_string().to_string()
    }

    #[test]
    fn a_constant_takes_the_minus() {
        let text = summed("%q = fdiv double 1.0, %c\n%d = fsub contract double %m, %q");
        assert!(text.contains("fdiv double -1.0") && text.contains("fadd contract double %m, %q"), "{text}");
        let text = summed("%p = fmul double %c, 0.5\n%q = fdiv double %p, %a\n%d = fsub contract double %m, %q");
        assert!(text.contains("fmul double %c, -5.0") && text.contains("fadd contract double %m, %q"), "{text}");
    }

    #[test]
    fn what_others_use_stays() {
        for body in [
            "%q = fdiv double %a, %c\n%d = fsub contract double %m, %q",
            "%q = fmul double %c, 2.0\n%d = fsub contract double %m, %q",
            "%q = fdiv double 1.0, %c\n%r = fdiv double 1.0, %a\n%d = fsub contract double %m, %q",
            "%q = fdiv double 1.0, %c\n%r = fadd double %q, %a\n%d = fsub contract double %m, %q",
        ] {
            assert!(summed(body).contains("fsub contract double %m, %q"), "{body}");
        }
    }
}

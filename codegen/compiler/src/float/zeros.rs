//! Keeps the sign of a zero that a comparison chose.
//!
//! ```text
//! before: %c = fcmp olt float %x, 0.0
//!         %m = select i1 %c, float %x, float 0.0
//! after:  %c = fcmp uge float %x, 0.0
//!         %m = select i1 %c, float 0.0, float %x
//! ```
//!
//! LLVM 22 selects `min.f32` for the first, which gives -0.0 of both zeros: of -0.0, Rust says that it is not less than 0.0,
//! and means 0.0 (LLVM's issue 93414). Where the comparison holds for equal numbers, LLVM heeds their signs.

use crate::llvm::{BasicValueEnum, Builder, BuilderError, FloatPredicate as Is, InstructionOpcode, InstructionValue};

/// Writes a choice otherwise that is no minimum or maximum because of its zeros.
pub fn keep_sign<'ctx>(builder: &Builder<'ctx>, select: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let operand = |of: InstructionValue<'ctx>, index| of.get_operand(index).and_then(|operand| operand.value());
    if select.get_opcode() != InstructionOpcode::Select {
        return Ok(());
    }
    let [Some(condition), Some(chosen), Some(other)] = [0, 1, 2].map(|index| operand(select, index)) else {
        return Ok(());
    };
    let comparison = match condition {
        BasicValueEnum::IntValue(flag) => flag.as_instruction(),
        BasicValueEnum::VectorValue(flags) => flags.as_instruction(),
        _ => None,
    };
    let Some(comparison) = comparison else { return Ok(()) };
    let (is_greater, opposite) = match comparison.get_fcmp_predicate() {
        Some(Is::OGT) => (true, Is::ULE),
        Some(Is::UGT) => (true, Is::OLE),
        Some(Is::OLT) => (false, Is::UGE),
        Some(Is::ULT) => (false, Is::OGE),
        _ => return Ok(()),
    };
    let (Some(left), Some(right)) = (operand(comparison, 0), operand(comparison, 1)) else { return Ok(()) };
    let is_maximum = match (left, right) {
        both if both == (chosen, other) => is_greater,
        both if both == (other, chosen) => !is_greater,
        _ => return Ok(()),
    };
    // Of two zeros the other one is meant; a maximum is 0.0 and a minimum -0.0.
    if !may_be_zero(chosen, !is_maximum) || !may_be_zero(other, is_maximum) {
        return Ok(());
    }
    builder.position_before(&select);
    let condition: BasicValueEnum<'ctx> = match (left, right) {
        (BasicValueEnum::FloatValue(left), BasicValueEnum::FloatValue(right)) => {
            builder.build_float_compare(opposite, left, right, "")?.into()
        }
        (BasicValueEnum::VectorValue(left), BasicValueEnum::VectorValue(right)) => {
            builder.build_float_compare(opposite, left, right, "")?.into()
        }
        _ => return Ok(()),
    };
    for (index, value) in [condition, other, chosen].into_iter().enumerate() {
        select.set_operand(index as u32, value);
    }
    Ok(())
}

/// Whether a value may be the zero of that sign.
fn may_be_zero(value: BasicValueEnum<'_>, is_negative: bool) -> bool {
    let constant = match value {
        BasicValueEnum::FloatValue(value) => value.get_constant(),
        _ => None,
    };
    constant.is_none_or(|(constant, _)| constant == 0.0 && constant.is_sign_negative() == is_negative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{self, Context, parse_ir};

    /// Whether LLVM heeds the zeros' signs.
    fn is_kept(compare: &str, select: &str) -> bool {
        let context = Context::create();
        let text = format!(
            "define float @f(float %x, float %y) {{ %c = fcmp {compare}\n %m = select i1 %c, {select}\n ret float %m }}"
        );
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let builder = context.create_builder();
        for instruction in llvm::functions(&module).flat_map(llvm::instructions).collect::<Vec<_>>() {
            keep_sign(&builder, instruction).unwrap();
        }
        module.verify().unwrap();
        let ir = module.print_to_string().to_string();
        let (chosen, other) = select.split_once(", ").unwrap();
        let is_kept = ["uge", "oge", "ule", "ole"].iter().any(|opposite| ir.contains(&format!("%1 = fcmp {opposite}")));
        let arms = if is_kept { format!("select i1 %1, {other}, {chosen}") } else { format!("select i1 %c, {select}") };
        assert!(ir.replace("0.000000e+00", "0.0").replace("1.000000e+00", "1.0").contains(&arms), "{ir}");
        is_kept
    }

    #[test]
    fn what_would_be_the_other_zero_is_kept() {
        for (compare, select) in [
            ("olt float %x, 0.0", "float %x, float 0.0"),
            ("ult float %x, 0.0", "float %x, float 0.0"),
            ("olt float %x, 0.0", "float 0.0, float %x"),
            ("ogt float %x, -0.0", "float %x, float -0.0"),
            ("ogt float %x, -0.0", "float -0.0, float %x"),
            ("ogt float %x, %y", "float %x, float %y"),
            ("olt float %x, %y", "float %y, float %x"),
        ] {
            assert!(is_kept(compare, select), "{compare}, {select}");
        }
    }

    #[test]
    fn others_stay() {
        for (compare, select) in [
            ("ogt float %x, 0.0", "float %x, float 0.0"),
            ("ogt float %x, 0.0", "float 0.0, float %x"),
            ("olt float 0.0, %x", "float 0.0, float %x"),
            ("olt float %x, 1.0", "float %x, float 1.0"),
            ("oge float %x, -0.0", "float %x, float -0.0"),
            ("olt float %x, 0.0", "float %y, float 0.0"),
        ] {
            assert!(!is_kept(compare, select), "{compare}, {select}");
        }
    }
}

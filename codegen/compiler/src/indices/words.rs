//! Compares numbers of 64 bits that are below 2^32 in 32 bits.
//!
//! ```text
//! before: %width = and i64 %extents, 4294967295                      ; a plane's, from what the host packed
//!         %left = call i64 @llvm.usub.sat.i64(i64 %width, i64 (zext i32 %thread))
//!         %few = icmp ult i64 %left, 769
//! after:  %left.32 = call i32 @llvm.usub.sat.i32(i32 (trunc i64 %width), i32 %thread)
//!         %left = zext i32 %left.32 to i64
//!         %few = icmp ult i32 %left.32, 769
//! ```
//!
//! A GPU compares 64 bits by two instructions, and chooses the larger of two by four. LLVM narrows what is compared where
//! both sides were extended, but not where an upper half was cut off or shifted away, as where rows and columns come in one
//! word. What `indices::narrow` does for all of a kernel, this does where that may not, as beside a barrier. What
//! is left under a constant mask stays as it is: ptxas sees that, and LLVM what the test says of a number of rounds.
//!
//! **Why it is right.** Both numbers are below 2^32 whatever they are computed from, so their lower halves are they
//! themselves. What is smaller, larger or left of them without a sign is below 2^32 too.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicValue, Builder, BuilderError, Context, InstructionOpcode as Op, InstructionValue, IntPredicate,
    IntValue, Intrinsic, Module,
};
use crate::loops::most;

use super::compared::compare_in_loops;

/// How deep numbers may be computed.
const MOST_STEPS: u32 = 8;

/// What is done to two numbers and is no more than the larger one.
const CHOICES: [&str; 3] = ["llvm.usub.sat", "llvm.umin", "llvm.umax"];

/// Narrows all of a module.
pub fn compare<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let functions: Vec<_> = llvm::functions(module).filter(|function| function.count_basic_blocks() > 0).collect();
    for function in functions {
        // What is chosen stands before what is compared with it.
        for instruction in llvm::instructions(function).collect::<Vec<_>>() {
            narrow(context, module, instruction).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot compare numbers of 32 bits: {error}"))
            })?;
        }
        compare_in_loops(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot compare what a loop counts in 32 bits: {error}"))
        })?;
    }
    Ok(())
}

fn narrow<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    instruction: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let (predicate, name) = (instruction.get_icmp_predicate(), chosen(instruction));
    if predicate.is_none() && name.is_none() {
        return Ok(());
    }
    let (Some(left), Some(right)) = (llvm::int_operand(instruction, 0), llvm::int_operand(instruction, 1)) else {
        return Ok(());
    };
    if !is_small(left) || !is_small(right) || right.is_const() && is_masked(left) {
        return Ok(());
    }
    let builder = context.create_builder();
    builder.position_before(&instruction);
    let (left, right) = (lower(context, &builder, left)?, lower(context, &builder, right)?);
    let narrowed = if let Some(name) = name {
        let found = Intrinsic::find(name).and_then(|found| found.get_declaration(module, &[context.i32_type().into()]));
        let found = found.expect("LLVM has its intrinsics");
        let result = builder.build_call(found, &[left.into(), right.into()], "")?.try_as_basic_value().unwrap_basic();
        builder.build_int_z_extend(result.into_int_value(), context.i64_type(), "")?
    } else {
        let predicate = predicate.expect("it is one or the other");
        builder.build_int_compare(unsigned(predicate), left, right, "")?
    };
    llvm::replace_uses(instruction, narrowed.into());
    instruction.erase_from_basic_block();
    Ok(())
}

/// Which of the choices an instruction is.
fn chosen(instruction: InstructionValue<'_>) -> Option<&'static str> {
    let name = llvm::called_function(instruction)?.get_name().to_string_lossy().into_owned();
    CHOICES.into_iter().find(|choice| name.strip_suffix(".i64") == Some(choice))
}

/// Whether a number has 64 bits, and is below 2^32.
fn is_small(value: IntValue<'_>) -> bool {
    value.get_type().get_bit_width() == 64 && most(value, MOST_STEPS).is_some_and(|most| most <= u64::from(u32::MAX))
}

/// The lower half of a number.
fn lower<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    value: IntValue<'ctx>,
) -> std::result::Result<IntValue<'ctx>, BuilderError> {
    extended(value).map_or_else(|| builder.build_int_truncate(value, context.i32_type(), ""), Ok)
}

/// What a number is extended from, if that has 32 bits.
fn extended(value: IntValue<'_>) -> Option<IntValue<'_>> {
    let from = value.as_instruction_value().filter(|from| from.get_opcode() == Op::ZExt)?;
    llvm::int_operand(from, 0).filter(|inner| inner.get_type().get_bit_width() == 32)
}

/// Whether a number is what a constant leaves of another.
fn is_masked(value: IntValue<'_>) -> bool {
    let from = value.as_instruction_value().filter(|from| from.get_opcode() == Op::And);
    from.and_then(|from| llvm::int_operand(from, 1)).is_some_and(|mask| mask.is_const())
}

/// The comparison that numbers without a sign have the same result of as numbers of 64 bits that are not negative.
fn unsigned(predicate: IntPredicate) -> IntPredicate {
    match predicate {
        IntPredicate::SLT => IntPredicate::ULT,
        IntPredicate::SLE => IntPredicate::ULE,
        IntPredicate::SGT => IntPredicate::UGT,
        IntPredicate::SGE => IntPredicate::UGE,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The function after [`compare`].
    fn compared(body: &str) -> String {
        let text = format!(
            "declare i64 @llvm.usub.sat.i64(i64, i64)
            declare i64 @llvm.umin.i64(i64, i64)
            declare i64 @llvm.umax.i64(i64, i64)
            define i1 @f(i64 %extents, i32 %thread, i64 %wide) {{
              %width = and i64 %extents, 4294967295
              %height = lshr i64 %extents, 32
              %t = zext i32 %thread to i64
              {body}
              ret i1 %c
            }}"
        );
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        compare(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    #[test]
    fn numbers_of_32_bits_are_compared_in_32() {
        let predicates = ["eq", "ne", "ult", "ule", "ugt", "uge"];
        for (was, is) in predicates.iter().zip(predicates).chain([(&"slt", "ult"), (&"sge", "uge")]) {
            let ir = compared(&format!("%c = icmp {was} i64 %height, %t"));
            assert!(ir.contains(&format!("icmp {is} i32 %")) && ir.contains(", %thread\n"), "{ir}");
            assert!(ir.contains("trunc i64 %height to i32"), "{ir}");
        }
        assert!(compared("%c = icmp ult i64 %t, 769").contains("icmp ult i32 %thread, 769"));
        assert!(compared("%c = icmp eq i64 %height, 0").contains("icmp eq i32 %"));
    }

    #[test]
    fn what_is_chosen_is_compared_too() {
        for name in ["usub.sat", "umin", "umax"] {
            let ir = compared(&format!(
                "%left = call i64 @llvm.{name}.i64(i64 %width, i64 %t)
                %c = icmp eq i64 %left, 0"
            ));
            assert!(ir.contains(&format!("call i32 @llvm.{name}.i32(i32 %")) && ir.contains("icmp eq i32 %"), "{ir}");
            assert!(ir.contains("zext i32 %") && !ir.contains("call i64"), "{ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for body in [
            "%c = icmp ult i64 %wide, %t",
            "%c = icmp ult i64 %t, -1",
            "%c = icmp ult i64 %width, 769",
            "%more = add i64 %width, 1
            %c = icmp ult i64 %more, %t",
            "%less = sub i64 %t, 1
            %c = icmp ult i64 %less, %width",
            "%least = call i64 @llvm.umin.i64(i64 %wide, i64 %width)
            %c = icmp eq i64 %least, %wide",
        ] {
            let ir = compared(body);
            assert!(!ir.contains("icmp ult i32") && !ir.contains("icmp eq i32") && !ir.contains("trunc"), "{ir}");
        }
    }
}

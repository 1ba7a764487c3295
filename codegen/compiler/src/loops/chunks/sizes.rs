//! How large a chunk is, and what is left behind it.

use crate::llvm::{
    self, BasicValue, Builder, BuilderError, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue,
    Intrinsic, Module,
};

use super::asked::Asked;

/// How many whole chunks there are, and whether there is one, which has all elements that are asked for.
pub fn ask_for_whole<'ctx>(
    builder: &Builder<'ctx>,
    module: &Module<'ctx>,
    (len, size): (IntValue<'ctx>, IntValue<'ctx>),
    asked: &[Asked<'ctx>],
) -> Result<(IntValue<'ctx>, IntValue<'ctx>), BuilderError> {
    let [len, size] = [len, size].map(|value| llvm::build_freeze(builder, value));
    let word = size.get_type();
    let (zero, one) = (word.const_zero(), word.const_int(1, false));
    let largest = Intrinsic::find("llvm.umax").and_then(|found| found.get_declaration(module, &[word.into()]));
    let largest = largest.expect("LLVM has the larger of two for every integer");
    let divisor = builder.build_call(largest, &[size.into(), one.into()], "")?.try_as_basic_value();
    let rounds = builder.build_int_unsigned_div(len, divisor.unwrap_basic().into_int_value(), "")?;
    let are_whole = builder.build_int_compare(IntPredicate::NE, rounds, zero, "")?;
    let is_size = builder.build_int_compare(IntPredicate::NE, size, zero, "")?;
    let mut fits = builder.build_and(are_whole, is_size, "")?;
    for asked in asked {
        let is_inside = asked.is_inside(builder, size)?;
        fits = builder.build_and(fits, is_inside, "")?;
    }
    Ok((rounds, fits))
}

/// The number that a call chooses.
pub fn number(from: InstructionValue<'_>) -> Option<IntValue<'_>> {
    let is_minimum = llvm::called_function(from)?.get_name().to_bytes().starts_with(b"llvm.umin.i");
    is_minimum.then(|| llvm::result(from).into_int_value())
}

/// Whether a number is what is left behind a chunk.
pub fn is_less<'ctx>(
    next: IntValue<'ctx>,
    rest: IntValue<'ctx>,
    here: InstructionValue<'ctx>,
    size: IntValue<'ctx>,
) -> bool {
    let Some(from) = next.as_instruction_value() else { return false };
    let parts = llvm::int_operand(from, 0).zip(llvm::int_operand(from, 1));
    match from.get_opcode() {
        Op::Sub => parts.is_some_and(|(left, right)| left == rest && right.as_instruction_value() == Some(here)),
        Op::Call => {
            let name = llvm::called_function(from).map(|callee| callee.get_name().to_bytes().to_vec());
            name.is_some_and(|name| name.starts_with(b"llvm.usub.sat.")) && parts == Some((rest, size))
        }
        _ => false,
    }
}

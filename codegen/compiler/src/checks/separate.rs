//! Keeps comparisons apart that LLVM's code generator would join by a maximum.
//!
//! ```text
//! before: and i1 (icmp ult i64 %a, %len), (icmp ult i64 %b, %len)
//! after:  and i1 (icmp ult i64 %a, %len), (icmp ult i64 %b, (freeze i64 %len))
//! ```
//!
//! It makes `icmp ult (umax %a, %b), %len` of the first (`foldAndOrOfSETCC` of LLVM's `DAGCombiner.cpp`), because PTX has
//! `max.u64`. No GPU has: the maximum takes four instructions, and a comparison two. The frozen length is the same number,
//! and no instruction.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Context, InstructionOpcode, InstructionValue, IntValue, Module,
};

/// Separates all comparisons of 64 bits that are joined.
pub fn separate<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    let builder = context.create_builder();
    let joins = |instruction: &InstructionValue<'ctx>| {
        matches!(
            instruction.get_opcode(),
            InstructionOpcode::And | InstructionOpcode::Or | InstructionOpcode::Select
        )
    };
    for join in llvm::functions(module).flat_map(llvm::instructions).filter(joins).collect::<Vec<_>>() {
        let compares: Vec<InstructionValue<'ctx>> =
            llvm::value_operands(join).filter_map(|(_, value)| comparison(value)).collect();
        let [first, second] = compares[..] else { continue };
        let common = operands(first).into_iter().flatten().find(|value| operands(second).contains(&Some(*value)));
        let Some(common) = common.filter(|common| first != second && !common.is_const()) else { continue };
        builder.position_before(&second);
        let frozen = llvm::build_freeze(&builder, common);
        for (index, operand) in llvm::value_operands(second).collect::<Vec<_>>() {
            if operand == BasicValueEnum::from(common) {
                second.set_operand(index, frozen);
            }
        }
    }
}

/// The comparison of order, of 64 bits, that a value is.
fn comparison(value: BasicValueEnum<'_>) -> Option<InstructionValue<'_>> {
    let BasicValueEnum::IntValue(value) = value else { return None };
    let compare = value.as_instruction_value()?;
    compare.get_icmp_predicate()?;
    let [Some(left), Some(_)] = operands(compare) else { return None };
    (left.get_type().get_bit_width() == 64).then_some(compare)
}

fn operands(compare: InstructionValue<'_>) -> [Option<IntValue<'_>>; 2] {
    let mut values = llvm::value_operands(compare).map(|(_, value)| match value {
        BasicValueEnum::IntValue(value) => Some(value),
        _ => None,
    });
    [values.next().flatten(), values.next().flatten()]
}

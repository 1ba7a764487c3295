//! What LLVM is told of numbers at a function's start.

use crate::llvm::{self, InstructionValue, IntPredicate, IntValue, Use};

/// What LLVM is told that a value is at most, without a sign. It means something wherever that is told.
pub fn assumed_most(value: IntValue<'_>) -> Option<u64> {
    let told = llvm::uses(&value).into_iter().filter_map(|user| {
        let Use::Instruction(compare) = user else { return None };
        let predicate = compare.get_icmp_predicate()?;
        let bound = llvm::int_operand(compare, 1)?;
        let most = match predicate {
            IntPredicate::ULT => bound.get_zero_extended_constant()?.checked_sub(1)?,
            IntPredicate::SGT if bound.get_sign_extended_constant() == Some(-1) => {
                u64::MAX.checked_shr(65_u32.checked_sub(value.get_type().get_bit_width())?)?
            }
            _ => return None,
        };
        (llvm::int_operand(compare, 0) == Some(value) && is_assumed(compare)).then_some(most)
    });
    told.min()
}

/// Whether it is assumed at the function's start, so that it holds everywhere.
fn is_assumed(condition: InstructionValue<'_>) -> bool {
    llvm::uses(&llvm::result(condition)).into_iter().any(|user| match user {
        Use::Instruction(call) => {
            let entry = call.get_parent().and_then(|block| block.get_parent()).and_then(|f| f.get_first_basic_block());
            let is_assume = llvm::called_function(call).is_some_and(|callee| callee.get_name() == c"llvm.assume");
            is_assume && call.get_parent() == entry
        }
        Use::Global(_) => false,
    })
}

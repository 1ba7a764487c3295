//! How an index is within a length, and what a comparison says of that.

use crate::llvm::{self, BasicValue, InstructionValue, IntPredicate, IntValue};

use super::branches::Branch;

/// How an index is within a length.
#[derive(Clone, Copy)]
pub enum Limit<'ctx> {
    /// It is below.
    Below,
    /// It is no more: where a part of a slice begins or ends.
    UpTo,
    /// It is no more, and leaves at least so many elements, or even more: `&x[k * n..][..n]`. That it is no more, a
    /// check before has said; else what it leaves would be a very large number.
    Leaves { count: IntValue<'ctx>, more: bool },
    /// It is another number, and grows by 1, or shrinks. LLVM writes `2 * k < len` so: `k` is not yet half of the length.
    Not { down: bool },
    /// It is what is left, shifted to the right, and at least so much, or more: `iter().skip(i).step_by(n)`.
    Keeps { shift: u64, more: bool },
    /// It is no more, or less, than what grows as it does: where a part of a slice begins and ends.
    Beside { strict: bool },
    /// It is below, or no more, whatever it is in a round: of what it is computed from it is known what it is at most.
    Bounded { strict: bool },
    /// Both are the same in all rounds.
    Always { predicate: IntPredicate },
}

/// What is less than what where a comparison holds, or where it does not, and whether it cannot be as much.
pub fn order<'ctx>(branch: &Branch<'ctx>, holds: bool) -> Option<(IntValue<'ctx>, IntValue<'ctx>, bool)> {
    of_predicate(branch.predicate, (branch.left, branch.right), holds)
}

/// The same of a comparison.
pub fn less<'ctx>(comparison: InstructionValue<'ctx>, holds: bool) -> Option<(IntValue<'ctx>, IntValue<'ctx>, bool)> {
    let both = (llvm::int_operand(comparison, 0)?, llvm::int_operand(comparison, 1)?);
    of_predicate(comparison.get_icmp_predicate()?, both, holds)
}

fn of_predicate<'ctx>(
    predicate: IntPredicate,
    (left, right): (IntValue<'ctx>, IntValue<'ctx>),
    holds: bool,
) -> Option<(IntValue<'ctx>, IntValue<'ctx>, bool)> {
    use IntPredicate::{UGE, UGT, ULE, ULT};
    Some(match (predicate, holds) {
        (ULT, true) | (UGE, false) => (left, right, true),
        (UGT, true) | (ULE, false) => (right, left, true),
        (ULE, true) | (UGT, false) => (left, right, false),
        (UGE, true) | (ULT, false) => (right, left, false),
        _ => return None,
    })
}

/// The comparison that holds where another does not.
pub fn opposite(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate as P;
    match predicate {
        P::EQ => P::NE,
        P::NE => P::EQ,
        P::ULT => P::UGE,
        P::UGE => P::ULT,
        P::ULE => P::UGT,
        P::UGT => P::ULE,
        P::SLT => P::SGE,
        P::SGE => P::SLT,
        P::SLE => P::SGT,
        P::SGT => P::SLE,
    }
}

/// Two numbers that a number is the smaller one of.
pub fn least(value: IntValue<'_>) -> Option<[IntValue<'_>; 2]> {
    let call = value.as_instruction_value()?;
    let is_minimum = llvm::called_function(call)?.get_name().to_bytes().starts_with(b"llvm.umin.i");
    is_minimum.then_some([llvm::int_operand(call, 0)?, llvm::int_operand(call, 1)?])
}

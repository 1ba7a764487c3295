//! Whether a branch has found a number below another one, in whichever width it compared them, or no less than a
//! constant.
//!
//! ```text
//! %width = and i64 %extents, 4294967295
//! br i1 (icmp ult i32 %thread, (trunc i64 %extents to i32)), label %before, label %end
//! before:                                                             ; zext %thread is below %width
//! ```
//!
//! **Why it is right.** Numbers of 64 bits that are the lower half of the same number, or extend the same one without
//! a sign, are as large as that.

use crate::llvm::{self, BasicBlock, BasicValue, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue};

use super::branches::conditions;
use super::limits::{less, opposite};

/// How many branches above a block are looked at.
const MOST_STEPS: u32 = 8;

/// Whether a branch above a block has found a number below another one.
pub fn is_known_below<'ctx>(block: BasicBlock<'ctx>, low: IntValue<'ctx>, high: IntValue<'ctx>) -> bool {
    is_below_some(block, low, |limit| is_same(limit, high))
}

/// Whether a branch above a block has found a number below one of some kind.
pub fn is_below_some<'ctx>(
    block: BasicBlock<'ctx>,
    low: IntValue<'ctx>,
    is_limit: impl Fn(IntValue<'ctx>) -> bool,
) -> bool {
    is_asked_above(block, |above, block| is_below_on_way((above, block), low, &is_limit))
}

/// Whether the branch from a block to another one has found a number below one of some kind.
pub fn is_below_on_way<'ctx>(
    (from, to): (BasicBlock<'ctx>, BasicBlock<'ctx>),
    low: IntValue<'ctx>,
    is_limit: impl Fn(IntValue<'ctx>) -> bool,
) -> bool {
    conditions_of_order(from, to).into_iter().any(|(lower, limit)| is_same(lower, low) && is_limit(limit))
}

/// Whether both are the same number without a sign, in whichever widths.
pub fn is_same<'ctx>(one: IntValue<'ctx>, other: IntValue<'ctx>) -> bool {
    Number::of(one) == Number::of(other)
}

/// Whether one of the ways to a block on which all come, from a block to the next one, says something.
fn is_asked_above<'ctx>(
    mut block: BasicBlock<'ctx>,
    says: impl Fn(BasicBlock<'ctx>, BasicBlock<'ctx>) -> bool,
) -> bool {
    for _ in 0..MOST_STEPS {
        let [above] = llvm::predecessors(block)[..] else { return false };
        if says(above, block) {
            return true;
        }
        block = above;
    }
    false
}

/// Whether a branch above a block has found a number to be no less than a constant.
pub fn is_known_at_least<'ctx>(block: BasicBlock<'ctx>, value: IntValue<'ctx>, least: u64) -> bool {
    is_asked_above(block, |above, block| {
        let targets = above.get_terminator().and_then(llvm::branch_targets);
        let Some((then, _)) = targets.filter(|(then, other)| then != other) else { return false };
        let orders = conditions(above, block).into_iter().flatten().filter_map(|asked| less(asked, then == block));
        orders.filter(|(_, high, _)| *high == value).any(|(low, _, is_strict)| {
            let low = low.get_zero_extended_constant().and_then(|low| low.checked_add(u64::from(is_strict)));
            low.is_some_and(|low| low >= least)
        })
    })
}

/// The numbers of which a branch to a block says that the first is below the second.
pub fn conditions_of_order<'ctx>(
    from: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
) -> Vec<(IntValue<'ctx>, IntValue<'ctx>)> {
    let targets = from.get_terminator().and_then(llvm::branch_targets);
    // A jump that goes there in any case says nothing.
    let Some((then, _)) = targets.filter(|(then, other)| then != other) else { return Vec::new() };
    let holds = then == to;
    let below = |compared: InstructionValue<'ctx>| {
        let (left, right) = (llvm::int_operand(compared, 0)?, llvm::int_operand(compared, 1)?);
        let predicate = compared.get_icmp_predicate()?;
        match if holds { predicate } else { opposite(predicate) } {
            IntPredicate::ULT => Some((left, right)),
            IntPredicate::UGT => Some((right, left)),
            _ => None,
        }
    };
    conditions(from, to).into_iter().flatten().filter_map(below).collect()
}

/// A number without a sign, whatever its width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number<'ctx> {
    /// That is this value.
    Whole(IntValue<'ctx>),
    /// The lower 32 bits of this one, which has 64.
    Lower(IntValue<'ctx>),
}

impl<'ctx> Number<'ctx> {
    fn of(value: IntValue<'ctx>) -> Self {
        let Some(from) = value.as_instruction_value() else { return Self::Whole(value) };
        let Some(inner) = llvm::int_operand(from, 0) else { return Self::Whole(value) };
        let bits = |value: IntValue<'ctx>| value.get_type().get_bit_width();
        let mask = || llvm::int_operand(from, 1).and_then(IntValue::get_zero_extended_constant);
        match from.get_opcode() {
            Op::ZExt => Self::of(inner),
            Op::Trunc if bits(value) == 32 && bits(inner) == 64 => Self::Lower(inner),
            Op::And if bits(value) == 64 && mask() == Some(u64::from(u32::MAX)) => Self::Lower(inner),
            _ => Self::Whole(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, parse_ir};

    /// Whether `%low` is known to be below `%high` behind a branch that asks so.
    fn is_below(low: &str, high: &str, asks: &str, targets: &str) -> bool {
        let text = format!(
            "define void @f(i64 %a, i64 %b, i32 %c, i32 %d, i1 %other) {{
            entry: %low = {low}
              %high = {high}
              %low.cut = trunc i64 %a to i32
              %high.cut = trunc i64 %b to i32
              {asks}
              br i1 %is, label {targets}
            here: br label %inside
            inside: ret void
            there: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let function = module.get_function("f").unwrap();
        let block = |name: &str| {
            function
                .get_basic_blocks()
                .into_iter()
                .find(|block| block.get_name().to_bytes() == name.as_bytes())
                .unwrap()
        };
        let [low, high] =
            [0, 1].map(|at| llvm::result(block("entry").get_instructions().nth(at).unwrap()).into_int_value());
        is_known_below(block("inside"), low, high)
    }

    const LOW: &str = "and i64 %a, 4294967295";
    const HIGH: &str = "and i64 %b, 4294967295";

    #[test]
    fn a_branch_may_have_compared_them_in_either_width() {
        for (low, high, asks) in [
            (LOW, HIGH, "%is = icmp ult i64 %low, %high"),
            (LOW, HIGH, "%is = icmp ugt i64 %high, %low"),
            (LOW, HIGH, "%is = icmp ult i32 %low.cut, %high.cut"),
            ("zext i32 %c to i64", HIGH, "%is = icmp ult i32 %c, %high.cut"),
            ("zext i32 %c to i64", "zext i32 %d to i64", "%is = icmp ult i32 %c, %d"),
            ("add i64 %a, 1", "add i64 %b, 1", "%is = icmp ult i64 %low, %high"),
            (LOW, HIGH, "%less = icmp ult i64 %low, %high\n %is = and i1 %less, %other"),
        ] {
            assert!(is_below(low, high, asks, "%here, label %there"), "{low}, {high}, {asks}");
        }
        assert!(is_below(LOW, HIGH, "%is = icmp uge i64 %low, %high", "%there, label %here"));
    }

    #[test]
    fn nothing_is_known_of_others() {
        for (low, high, asks) in [
            // It is another number, an upper half counts too, they may be equal, or they have signs.
            (LOW, HIGH, "%is = icmp ult i64 %a, %b"),
            ("add i64 %a, 0", "add i64 %b, 0", "%is = icmp ult i32 %low.cut, %high.cut"),
            ("lshr i64 %a, 32", "lshr i64 %b, 32", "%is = icmp ult i32 %low.cut, %high.cut"),
            ("and i64 %a, 65535", HIGH, "%is = icmp ult i32 %low.cut, %high.cut"),
            (LOW, HIGH, "%is = icmp ule i64 %low, %high"),
            (LOW, HIGH, "%is = icmp slt i32 %low.cut, %high.cut"),
            (LOW, HIGH, "%less = icmp ult i64 %low, %high\n %is = or i1 %less, %other"),
        ] {
            assert!(!is_below(low, high, asks, "%here, label %there"), "{low}, {high}, {asks}");
        }
        assert!(!is_below(LOW, HIGH, "%is = icmp ult i64 %low, %high", "%there, label %here"));
    }
}

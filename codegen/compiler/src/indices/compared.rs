//! Compares what a loop counts in 32 bits where its numbers are seen to have no more.
//!
//! ```text
//! before: loop: %step = phi i64 [ 0, %before ], [ %next, %loop ]        ; below 511
//!               %column = sub i64 %step, %t                             ; %t is below 256
//!               %is = icmp ult i64 %column, 256
//! after:        %is = icmp ult i32 (trunc i64 %column to i32), 256
//! ```
//!
//! A comparison of 64 bits is two instructions, and keeps the upper halves of all that is compared: a sum that is only
//! compared and addresses shared memory is one instruction less without them. What `indices::narrow` does for all of a
//! kernel, this does where that may not: in loops with a barrier. Others ptxas unrolls, if it sees in what they are
//! compared how often they run.
//!
//! **Why it is right.** `ranges.rs` shows of both sides that they lie between -2^31 and 2^31 - 1 where they are
//! compared. Such numbers are what extending the sign of their lower halves makes of these, and that keeps their order,
//! with a sign and without.

use crate::hash::QuickMap;
use crate::llvm::{
    self, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op, InstructionValue,
    IntValue,
};
use crate::loops::{self, Graph};

use super::ranges::{Ranges, constant};

/// Narrows the comparisons with constants of a function's innermost loops in which threads wait for each other.
pub fn compare_in_loops<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let graph = Graph::of(function);
    let mut inside = graph.innermost();
    inside.retain(|found| found.blocks.iter().flat_map(|block| block.get_instructions()).any(loops::is_barrier));
    let all = inside.iter().flat_map(|found| &found.blocks).flat_map(|block| block.get_instructions());
    let compared: Vec<_> = all.filter(|from| is_of_number_and_constant(*from)).collect();
    if compared.is_empty() {
        return Ok(());
    }
    let (given, same) = (QuickMap::default(), QuickMap::default());
    let ranges = Ranges::of_function(&graph, &given, &same);
    let is_narrow = |from: &InstructionValue<'ctx>| {
        let of = |index| Some(ranges.in_block(llvm::int_operand(*from, index)?, from.get_parent()?).is_narrow());
        of(0) == Some(true) && of(1) == Some(true)
    };
    let narrow: Vec<_> = compared.into_iter().filter(is_narrow).collect();
    let builder = context.create_builder();
    narrow.into_iter().try_for_each(|from| write(context, &builder, from))
}

/// Whether an instruction compares a sum, a difference or a phi of 64 bits with a constant.
fn is_of_number_and_constant(from: InstructionValue<'_>) -> bool {
    let is_computed = |value: IntValue<'_>| {
        value
            .as_instruction_value()
            .is_some_and(|from| matches!(from.get_opcode(), Op::Add | Op::Sub | Op::Or | Op::Phi))
    };
    from.get_icmp_predicate().is_some()
        && llvm::int_operand(from, 0).is_some_and(|value| value.get_type().get_bit_width() == 64 && is_computed(value))
        && llvm::int_operand(from, 1).is_some_and(|value| constant(value).is_some())
}

fn write<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    from: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let (Some(predicate), Some(left), Some(right)) =
        (from.get_icmp_predicate(), llvm::int_operand(from, 0), llvm::int_operand(from, 1))
    else {
        return Ok(());
    };
    builder.position_before(&from);
    let lower = |value| builder.build_int_truncate(value, context.i32_type(), "");
    let narrow = builder.build_int_compare(predicate, lower(left)?, lower(right)?, "")?;
    llvm::replace_uses(from, narrow.into());
    from.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged::after;

    /// A loop of so many rounds that compares `column`.
    fn compared(column: &str, asked: &str, rounds: &str) -> String {
        compared_beside("call void @llvm.nvvm.barrier.cta.sync.all(i32 2)", column, asked, rounds)
    }

    fn compared_beside(wait: &str, column: &str, asked: &str, rounds: &str) -> String {
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define void @f(ptr %to, i32 %thread, i64 %wide) {{
            entry: %low = and i32 %thread, 255
              %t = zext i32 %low to i64
              br label %loop
            loop: %step = phi i64 [ 0, %entry ], [ %next, %rest ]
              %column = {column}
              %is = icmp {asked}
              br i1 %is, label %more, label %rest
            more: store i64 %step, ptr %to
              br label %rest
            rest: {wait}
              %next = add nuw nsw i64 %step, 1
              %end = icmp eq i64 %next, {rounds}
              br i1 %end, label %out, label %loop
            out: ret void
            }}"
        );
        after(&text, |context, module, _| {
            compare_in_loops(context, module.get_function("f").unwrap()).unwrap();
        })
    }

    #[test]
    fn what_a_loop_counts_is_compared_in_32_bits() {
        let ir = compared("sub i64 %step, %t", "ult i64 %column, 256", "511");
        assert!(ir.contains("icmp ult i32 %") && ir.contains("icmp eq i32 %") && !ir.contains("icmp ult i64"), "{ir}");
        let ir = compared("sub i64 %step, %t", "slt i64 %column, -3", "511");
        assert!(ir.contains("icmp slt i32 %") && ir.contains(", -3"), "{ir}");
    }

    #[test]
    fn what_ptxas_may_unroll_is_compared_as_it_was() {
        let ir = compared_beside("", "sub i64 %step, %t", "ult i64 %column, 256", "511");
        assert!(!ir.contains("trunc"), "{ir}");
    }

    #[test]
    fn what_may_be_more_is_compared_as_it_was() {
        for (column, asked, rounds) in [
            ("sub i64 %step, %t", "ult i64 %column, 256", "%wide"),
            ("sub i64 %step, %wide", "ult i64 %column, 256", "511"),
            ("sub i64 %step, %t", "ult i64 %column, 4294967296", "511"),
            ("sub i64 %step, %t", "ult i64 %column, 256", "5000000000"),
        ] {
            let ir = compared(column, asked, rounds);
            assert!(ir.contains("icmp ult i64") && !ir.contains("icmp ult i32"), "{ir}");
        }
    }
}

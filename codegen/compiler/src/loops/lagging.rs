//! Has what a loop remembers of its counter be the counter itself.
//!
//! ```text
//! before: loop: %next = phi i64 [ 1, %before ], [ %after, %loop ]
//!               %i = phi i64 [ 0, %before ], [ %next, %loop ]
//!               %after = add nuw i64 %next, 1
//! after:  loop: %i = phi i64 [ 0, %before ], [ %next, %loop ]
//!               %next = add nuw i64 %i, 1
//!               %after = add nuw i64 %next, 1
//! ```
//!
//! `for i in 0..n` gives the number away and keeps the next one; where LLVM moves the range's test to the loop's end, both are
//! phis. It takes the second for something that may be anything: so nothing is known of what it grows by, addresses that
//! are computed of both look different, and each has its registers, in the unrolled loop and behind it.
//!
//! So is it with addresses: `slice.iter().skip(i).step_by(n).fold(…)` keeps the element that it is at and the one behind it, both
//! of which go on by `n - 1` elements and one. There the later phi becomes the earlier one and the same steps:
//!
//! ```text
//! before: loop: %next = phi ptr [ %second, %before ], [ %after, %loop ]   ; %second = getelementptr i8, %one, 4
//!               %p = phi ptr [ %first, %before ], [ %next, %loop ]        ; %one = getelementptr float, %first, %less
//!               %then = getelementptr float, ptr %next, i64 %less
//!               %after = getelementptr i8, ptr %then, i64 4
//! after:  loop: %p = phi ptr [ %first, %before ], [ %next, %loop ]
//!               %one.again = getelementptr float, ptr %p, i64 %less
//!               %next = getelementptr i8, ptr %one.again, i64 4
//! ```
//!
//! **Why it is right.** At first one is more than the other by the step, and then both are what they were and the step.
//! The sum has the promise not to wrap around (`nuw`) where it is the sum that the round before made with it, and the first
//! one does not. Steps of addresses promise the same at first and in each round, so that they may promise it again.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Module,
};

use super::natural::{Graph, Loop};

/// How many phis may stand before each other, of which one number is more than the other, and how many steps an address takes.
const MOST_STEPS: u32 = 3;

/// Replaces the later one of two counters in every such loop.
pub fn catch_up<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in llvm::functions(module).filter(|function| may_lag(*function)) {
        for found in Graph::of(function).loops() {
            let failed = |error: BuilderError| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot join two counters of a loop: {error}"))
            };
            while let Some(pair) = llvm::phis(found.head).find_map(|phi| Pair::of(&found, phi)) {
                pair.join(context).map_err(failed)?;
            }
            while let Some(pair) = llvm::phis(found.head).find_map(|phi| Addresses::of(&found, phi)) {
                pair.join(context);
            }
        }
    }
    Ok(())
}

/// Whether a function has a phi that may become another phi of its block, which is quickly said.
fn may_lag(function: FunctionValue<'_>) -> bool {
    let is_of = |value: BasicValueEnum<'_>, block| {
        llvm::instruction_of(value).is_some_and(|from| from.get_opcode() == Op::Phi && from.get_parent() == Some(block))
    };
    function
        .get_basic_blocks()
        .into_iter()
        .any(|block| llvm::phis(block).any(|phi| llvm::incoming(phi).into_iter().any(|(value, _)| is_of(value, block))))
}

/// A counter of a loop, and the next number.
struct Pair<'ctx> {
    head: BasicBlock<'ctx>,
    counter: InstructionValue<'ctx>,
    next: InstructionValue<'ctx>,
    step: IntValue<'ctx>,
    is_checked: bool,
}

impl<'ctx> Pair<'ctx> {
    /// What a phi lags behind.
    fn of(found: &Loop<'ctx>, counter: InstructionValue<'ctx>) -> Option<Self> {
        let (first, next) = found.incoming(llvm::result(counter))?;
        let next = llvm::instruction_of(next).filter(|next| *next != counter)?;
        let (second, after) = found.incoming(llvm::result(next))?;
        let sum = llvm::instruction_of(after).filter(|sum| sum.get_opcode() == Op::Add)?;
        let (base, step) = (llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1)?);
        if base.as_instruction_value() != Some(next) || !step.is_const() {
            return None;
        }
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(second)) = (first, second) else { return None };
        let is_checked = llvm::has_no_unsigned_wrap(sum)
            && match (first.get_zero_extended_constant(), second.get_zero_extended_constant()) {
                (Some(first), Some(second)) => first <= second,
                _ => false,
            };
        let pair = Self { head: found.head, counter, next, step, is_checked };
        pair.is_sum(first, second, MOST_STEPS).then_some(pair)
    }

    /// Whether one number is another and the step.
    fn is_sum(&self, first: IntValue<'ctx>, second: IntValue<'ctx>, steps: u32) -> bool {
        let constant = IntValue::get_sign_extended_constant;
        if let (Some(first), Some(second), Some(step)) = (constant(first), constant(second), constant(self.step)) {
            let bits = first.wrapping_add(step).wrapping_sub(second).cast_unsigned();
            let width = self.step.get_type().get_bit_width();
            return width <= 64 && bits << (64 - width) == 0;
        }
        let Some(from) = second.as_instruction_value() else { return false };
        match from.get_opcode() {
            Op::Add => llvm::int_operand(from, 0) == Some(first) && llvm::int_operand(from, 1) == Some(self.step),
            Op::Or if llvm::is_disjoint(from) => {
                llvm::int_operand(from, 0) == Some(first) && llvm::int_operand(from, 1) == Some(self.step)
            }
            Op::Phi if steps > 0 => {
                let first = first.as_instruction_value().filter(|first| first.get_parent() == from.get_parent());
                first.filter(|first| first.get_opcode() == Op::Phi && from.get_parent() != Some(self.head)).is_some_and(
                    |first| {
                        llvm::incoming(from).into_iter().all(|(second, block)| {
                            match (llvm::incoming_from(first, block), second) {
                                (Some(BasicValueEnum::IntValue(first)), BasicValueEnum::IntValue(second)) => {
                                    self.is_sum(first, second, steps - 1)
                                }
                                _ => false,
                            }
                        })
                    },
                )
            }
            _ => false,
        }
    }

    /// Writes the sum in place of the next number's phi.
    fn join(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let Some(place) = self.head.get_instructions().find(|from| from.get_opcode() != Op::Phi) else { return Ok(()) };
        let Ok(counter) = IntValue::try_from(self.counter) else { return Ok(()) };
        let builder = context.create_builder();
        builder.position_before(&place);
        let sum = builder.build_int_add(counter, self.step, "")?;
        let from = sum.as_instruction_value().expect("a phi is no constant");
        if self.is_checked {
            llvm::set_no_unsigned_wrap(from);
        }
        llvm::replace_uses(self.next, sum.into());
        self.next.erase_from_basic_block();
        Ok(())
    }
}

/// An address of a loop, and the next one.
struct Addresses<'ctx> {
    head: BasicBlock<'ctx>,
    earlier: InstructionValue<'ctx>,
    next: InstructionValue<'ctx>,
    /// What makes the one after that of the next one, in their order.
    steps: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> Addresses<'ctx> {
    /// What a phi lags behind.
    fn of(found: &Loop<'ctx>, earlier: InstructionValue<'ctx>) -> Option<Self> {
        let (first, next) = found.incoming(llvm::result(earlier))?;
        let next = llvm::instruction_of(next).filter(|next| *next != earlier)?;
        let (second, after) = found.incoming(llvm::result(next))?;
        let mut steps = Vec::new();
        let (mut at, mut at_first) = (after, second);
        while at != llvm::result(next) {
            let (step, step_at_first) = (llvm::instruction_of(at)?, llvm::instruction_of(at_first)?);
            let (base, size, index) = llvm::element_of(step)?;
            let (base_at_first, ..) = llvm::element_of(step_at_first).filter(|(_, other_size, other_index)| {
                (*other_size, *other_index) == (size, index) && llvm::promise_alike(step, step_at_first)
            })?;
            if steps.len() as u32 == MOST_STEPS || !found.is_invariant(index.into()) {
                return None;
            }
            steps.insert(0, step);
            (at, at_first) = (base.into(), base_at_first.into());
        }
        (at_first == first && !steps.is_empty()).then_some(Self { head: found.head, earlier, next, steps })
    }

    /// Takes the same steps in place of the next address's phi.
    fn join(&self, context: &'ctx Context) {
        let Some(place) = self.head.get_instructions().find(|from| from.get_opcode() != Op::Phi) else { return };
        let builder = context.create_builder();
        builder.position_before(&place);
        let address = self.steps.iter().fold(llvm::result(self.earlier), |address, step| {
            llvm::result(llvm::build_copy(&builder, *step, &[(0, address)]))
        });
        llvm::replace_uses(self.next, address);
        self.next.erase_from_basic_block();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function after the stage.
    fn after_stage(text: &str) -> String {
        let context = Context::create();
        let module =
            parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        catch_up(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// A loop of two such phis, after the stage.
    fn joined(first: &str, second: &str, after: &str) -> String {
        let text = format!(
            "define void @f(ptr %to, i64 %n, i64 %start, i1 %c) {{
            entry: %one.more = or disjoint i64 %start, 1
              br i1 %c, label %other, label %before
            other: br label %before
            before: %a = phi i64 [ 0, %entry ], [ %start, %other ]
              %b = phi i64 [ 1, %entry ], [ %one.more, %other ]
              %wrong = phi i64 [ 1, %other ], [ %one.more, %entry ]
              br label %loop
            loop: %next = phi i64 [ {second}, %before ], [ %after, %loop ]
              %i = phi i64 [ {first}, %before ], [ %next, %loop ]
              %p = getelementptr float, ptr %to, i64 %i
              store volatile float 1.0, ptr %p
              %after = {after}
              %go = icmp ult i64 %next, %n
              br i1 %go, label %loop, label %out
            out: ret void
            }}"
        );
        after_stage(&text)
    }

    #[test]
    fn the_next_number_is_a_sum() {
        for (first, second, sum) in
            [("0", "1", "add nuw i64 %i, 1"), ("%start", "%one.more", "add i64 %i, 1"), ("%a", "%b", "add i64 %i, 1")]
        {
            let ir = joined(first, second, "add nuw i64 %next, 1");
            assert!(ir.contains(sum) && !ir.contains("%next = phi"), "{ir}");
        }
        assert!(joined("3", "1", "add nuw i64 %next, -2").contains("add i64 %i, -2"), "the first sum wraps around");
    }

    #[test]
    fn others_stay() {
        for (first, second, after) in [
            ("0", "2", "add i64 %next, 1"),
            ("0", "1", "add i64 %next, 2"),
            ("0", "1", "add i64 %i, 1"),
            ("0", "1", "mul i64 %next, 2"),
            ("%start", "%n", "add i64 %next, 1"),
            ("%a", "%wrong", "add i64 %next, 1"),
        ] {
            assert!(joined(first, second, after).contains("%next = phi"), "{first} {second} {after}");
        }
    }

    /// A loop of two addresses, after the stage.
    fn joined_addresses(second: &str, then: &str) -> String {
        let text = format!(
            "define void @f(ptr %first, i64 %less, i64 %other, ptr %end) {{
            before: %one = getelementptr inbounds float, ptr %first, i64 %less
              %second = {second}
              br label %loop
            loop: %next = phi ptr [ %second, %before ], [ %after, %loop ]
              %p = phi ptr [ %first, %before ], [ %next, %loop ]
              store volatile float 1.0, ptr %p
              %then = {then}
              %after = getelementptr i8, ptr %then, i64 4
              %go = icmp ult ptr %after, %end
              br i1 %go, label %loop, label %out
            out: ret void
            }}"
        );
        after_stage(&text)
    }

    #[test]
    fn the_next_address_is_a_step_on() {
        let (second, then) =
            ("getelementptr i8, ptr %one, i64 4", "getelementptr inbounds float, ptr %next, i64 %less");
        let ir = joined_addresses(second, then);
        assert!(ir.contains("getelementptr inbounds float, ptr %p, i64 %less") && !ir.contains("%next = phi"), "{ir}");
        for (second, then) in [
            ("getelementptr i8, ptr %one, i64 8", then),
            ("getelementptr i8, ptr %first, i64 4", then),
            ("getelementptr inbounds i8, ptr %one, i64 4", then),
            (second, "getelementptr inbounds float, ptr %next, i64 %other"),
            (second, "getelementptr float, ptr %next, i64 %less"),
            (second, "getelementptr inbounds float, ptr %p, i64 %less"),
        ] {
            assert!(joined_addresses(second, then).contains("%next = phi"), "{second} {then}");
        }
    }
}

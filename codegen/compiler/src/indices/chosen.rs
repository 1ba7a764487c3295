//! Freezes by what a number is chosen, and not the number.
//!
//! ```text
//! before: loop: %base = phi i64 [ 0, %before ], [ %frozen, %loop ]
//!               %mid = add nuw i64 %base, %half
//!               %new = select i1 %is.less, i64 %mid, i64 %base
//!               %frozen = freeze i64 %new
//! after:  loop: %base = phi i64 [ 0, %before ], [ %new, %loop ]
//!               %mid = add i64 %base, %half
//!               %is = freeze i1 %is.less
//!               %new = select i1 %is, i64 %mid, i64 %base
//! ```
//!
//! Where LLVM branches on what a search has found (`partition_point`), it freezes it: a comparison of elements may mean
//! nothing. Then it may be any number as far as is seen, and so may be all that is computed of it in the next round.
//!
//! **Why it is right.** A choice by a condition that means nothing means nothing, and what is frozen of it is any number: so
//! it may be one of the two. Both are numbers on every run: constants, parameters, which are frozen where nothing says that
//! they are, what is frozen, phis of such numbers, by induction over the rounds, and sums, differences and shifts of them by a
//! constant, which no longer promise that they do not overflow. A number without its promise is the same where it had kept
//! it, and where it had not, what means nothing may be any number.

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Use,
};

/// How many values are looked at for one that is frozen.
const MOST_LOOKS: usize = 24;

/// Freezes conditions in place of the choices of a function that they make.
pub fn freeze_conditions<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let freezes = llvm::instructions(function).filter(|from| from.get_opcode() == Op::Freeze);
    for freeze in freezes.collect::<Vec<_>>() {
        if let Some(choice) = Choice::of(freeze) {
            choice.freeze_condition(context, function)?;
        }
    }
    Ok(())
}

/// A choice between two numbers that is frozen, and used as nothing else.
struct Choice<'ctx> {
    select: InstructionValue<'ctx>,
    condition: IntValue<'ctx>,
    freeze: InstructionValue<'ctx>,
    arms: Arms<'ctx>,
}

impl<'ctx> Choice<'ctx> {
    fn of(freeze: InstructionValue<'ctx>) -> Option<Self> {
        let select =
            llvm::int_operand(freeze, 0)?.as_instruction_value().filter(|from| from.get_opcode() == Op::Select)?;
        let is_alone = matches!(llvm::uses(&llvm::result(select))[..], [Use::Instruction(user)] if user == freeze);
        let condition =
            llvm::int_operand(select, 0).filter(|condition| is_alone && condition.get_type().get_bit_width() == 1)?;
        let mut arms = Arms::default();
        let are_numbers =
            [1, 2].iter().all(|index| llvm::int_operand(select, *index).is_some_and(|arm| arms.look(arm)));
        are_numbers.then_some(Self { select, condition, freeze, arms })
    }

    fn freeze_condition(self, context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
        let Self { select, condition, freeze, arms } = self;
        let builder = context.create_builder();
        builder.position_before(&select);
        let frozen = llvm::build_freeze(&builder, condition);
        assert!(select.set_operand(0, frozen), "it chooses by a condition");
        llvm::replace_uses(freeze, llvm::result(select));
        freeze.erase_from_basic_block();
        for sum in arms.promising {
            builder.position_before(&sum);
            build_without_promise(&builder, sum)?;
        }
        let entry = function.get_first_basic_block();
        let Some(first) = entry.and_then(|entry| entry.get_first_instruction()) else { return Ok(()) };
        builder.position_before(&first);
        for param in arms.params {
            llvm::freeze_parameter(&builder, function, param);
        }
        Ok(())
    }
}

/// What two numbers are made of.
#[derive(Default)]
struct Arms<'ctx> {
    /// What has been looked at. Of a phi that is being looked at it is taken for granted: what means nothing begins somewhere.
    seen: Vec<IntValue<'ctx>>,
    /// Sums and differences that promise something.
    promising: Vec<InstructionValue<'ctx>>,
    params: Vec<IntValue<'ctx>>,
}

impl<'ctx> Arms<'ctx> {
    /// Whether a value is some number on every run, without what sums promise and with its parameters frozen.
    fn look(&mut self, value: IntValue<'ctx>) -> bool {
        if value.is_constant_int() || self.seen.contains(&value) {
            return true;
        }
        if self.seen.len() >= MOST_LOOKS {
            return false;
        }
        self.seen.push(value);
        let Some(from) = value.as_instruction_value() else {
            // Only constants are no instruction and no parameter, and they have been looked at or mean nothing.
            let is_param = !value.is_const();
            self.params.extend(is_param.then_some(value));
            return is_param;
        };
        match from.get_opcode() {
            Op::Freeze => true,
            Op::Phi => llvm::incoming(from).into_iter().all(|(value, _)| match value {
                BasicValueEnum::IntValue(value) => self.look(value),
                _ => false,
            }),
            Op::Add | Op::Sub => {
                if llvm::promises(from) != llvm::Promises::default() {
                    self.promising.push(from);
                }
                self.look_at_both(from)
            }
            Op::LShr => {
                let bits = u64::from(value.get_type().get_bit_width());
                let by = llvm::int_operand(from, 1).and_then(IntValue::get_zero_extended_constant);
                let means_something =
                    llvm::promises(from) == llvm::Promises::default() && by.is_some_and(|by| by < bits);
                means_something && self.look_at_both(from)
            }
            _ => false,
        }
    }

    fn look_at_both(&mut self, from: InstructionValue<'ctx>) -> bool {
        [0, 1].into_iter().all(|index| llvm::int_operand(from, index).is_some_and(|part| self.look(part)))
    }
}

/// The same sum or difference, which may overflow.
fn build_without_promise<'ctx>(builder: &Builder<'ctx>, sum: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let (Some(left), Some(right)) = (llvm::int_operand(sum, 0), llvm::int_operand(sum, 1)) else { return Ok(()) };
    let new = match sum.get_opcode() {
        Op::Add => builder.build_int_add(left, right, "")?,
        _ => builder.build_int_sub(left, right, "")?,
    };
    llvm::replace_uses(sum, new.into());
    sum.erase_from_basic_block();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A search whose choice is frozen: how its middle is computed, and what else looks at the choice.
    fn frozen(middle: &str, more: &str) -> String {
        let text = format!(
            "declare void @seen(i64)
            define i64 @f(ptr %from, i64 %len, i64 %any, float %x) {{
            entry: br label %loop
            loop: %size = phi i64 [ %len, %entry ], [ %left, %loop ]
              %base = phi i64 [ 0, %entry ], [ %frozen, %loop ]
              %half = lshr i64 %size, 1
              %mid = {middle}
              %p = getelementptr float, ptr %from, i64 %mid
              %y = load float, ptr %p
              %less = fcmp ole float %y, %x
              %new = select i1 %less, i64 %mid, i64 %base
              {more}
              %frozen = freeze i64 %new
              %left = sub i64 %size, %half
              %more = icmp ugt i64 %left, 1
              br i1 %more, label %loop, label %end
            end: ret i64 %frozen
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        freeze_conditions(&context, function).unwrap();
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    #[test]
    fn a_comparison_is_frozen_in_place_of_what_a_search_finds() {
        let ir = frozen("add nuw i64 %base, %half", "");
        assert!(ir.contains("= freeze i1 %less"), "{ir}");
        assert!(ir.contains("%base = phi i64 [ 0, %entry ], [ %new, %loop ]"), "{ir}");
        assert!(!ir.contains("nuw"), "{ir}");
        // The length may be none.
        assert!(ir.contains("= freeze i64 %len") && ir.matches("freeze").count() == 2, "{ir}");
    }

    #[test]
    fn what_may_be_no_number_stays_frozen() {
        for (middle, more) in [
            // What is loaded, and quotients.
            ("load i64, ptr %from", ""),
            ("udiv i64 %any, %half", ""),
            ("lshr i64 %any, %half", ""),
            ("lshr exact i64 %any, 1", ""),
            ("add i64 %base, poison", ""),
            // Somebody sees that the choice means nothing.
            ("add i64 %base, %half", "call void @seen(i64 %new)"),
        ] {
            let ir = frozen(middle, more);
            assert!(ir.contains("%frozen = freeze i64 %new"), "{middle}: {ir}");
            assert!(!ir.contains("freeze i1"), "{middle}: {ir}");
        }
    }
}

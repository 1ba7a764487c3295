//! Runs four rounds at a time of a loop that divides floats, and goes on by a step only known at run time.
//!
//! ```text
//! before: loop: %ahead = phi i64 [ %second, %before ], [ %after, %loop ]
//!               %now = phi i64 [ %first, %before ], [ %ahead, %loop ]
//!               store float (fdiv float (load float, ptr %x[%now]), %sum), ptr %y[%now]
//!               %after = add i64 %ahead, %step
//!               br i1 (icmp ult i64 %ahead, %len), label %loop, label %end
//! after:  before: %most = %len - 2 × %step                   ; 0 if that is less, or if the step is 2^62 or more
//!                 br i1 (icmp ult i64 %second, %most), label %four, label %loop
//!         four:   four rounds, one behind the other
//!                 br i1 (icmp ult i64 %ahead.3, %len), label %again, label %end
//!         again:  br i1 (icmp ult i64 %ahead.4, %most), label %four, label %loop
//!         loop:   …                                           ; as it was, from where it stands
//! ```
//!
//! The elements of a row that are a thread's own: each thread of a block takes every so many, and how many threads a block
//! has is known at run time. LLVM does not unroll such a loop, and [`super::strides`], which divides to know how often it
//! goes on, costs more than the few rounds gain. With a division in each round ptxas moves no load before the one of the
//! round before, so each round waited for its own; of four rounds in one block, [`crate::float`] asks for all at once.
//!
//! **Why it is right.** `%ahead` is what the loop compares. Where it is below `%most`, it is more than two steps below
//! `%len`, and since two steps are below 2^63, neither sum of the next two rounds overflows: the comparisons of three
//! rounds hold, as they did one by one, and the fourth is made as before. The rounds do what they did, in their order.
//! Where the step is 0, the loop goes on for ever, four rounds at a time.
//!
//! Only loops of one block, without anything convergent, which the caller looks at.

use std::collections::HashMap;

use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Intrinsic, Module, Unroll,
};

use super::branches::integer;
use super::natural::Loop;

/// Rounds that are run at once, as nvcc has them.
const ROUNDS: usize = 4;

/// Divisions of a round: each that is run at once keeps a register for what it divides.
const MOST_DIVISIONS: usize = 2;

/// Whether a loop gains from it: what it loads would wait for a division otherwise.
pub fn suits(found: &Loop<'_>) -> bool {
    let [block] = found.blocks[..] else { return false };
    let instructions = || block.get_instructions();
    let divisions = instructions().filter(|from| from.get_opcode() == Op::FDiv).count();
    (1..=MOST_DIVISIONS).contains(&divisions)
        && instructions().any(llvm::is_plain_load)
        && !instructions().any(begins_a_scope)
}

/// Whether what is said of aliases holds from here until the next round, which is then another place.
fn begins_a_scope(instruction: InstructionValue<'_>) -> bool {
    llvm::called_function(instruction)
        .is_some_and(|callee| callee.get_name().to_bytes() == b"llvm.experimental.noalias.scope.decl")
}

/// A loop that goes on while what it compares, which grows by a step, is below a bound.
pub struct Fours<'a, 'ctx> {
    pub context: &'ctx Context,
    pub module: &'a Module<'ctx>,
    pub function: FunctionValue<'ctx>,
    pub found: &'a Loop<'ctx>,
    /// The block before the loop, and the one behind it.
    pub before: BasicBlock<'ctx>,
    pub end: BasicBlock<'ctx>,
    /// What is compared, as the loop computes it, and what is added to that.
    pub compared: IntValue<'ctx>,
    pub step: IntValue<'ctx>,
    /// What decides whether four rounds are run, frozen: what is compared in the first round, the bound, and the step. Where
    /// one means nothing, so does what the loop itself asks.
    pub frozen: [IntValue<'ctx>; 3],
}

impl<'ctx> Fours<'_, 'ctx> {
    /// Writes the four rounds before the loop.
    pub fn write(&self) -> Result<(), BuilderError> {
        let Self { context, found, before, end, compared, .. } = *self;
        let ([first, bound, step], head) = (self.frozen, found.head);
        let Some(jump) = before.get_terminator() else { return Ok(()) };
        let builder = context.create_builder();
        let word = compared.get_type();
        let [four, again] = [(); 2].map(|()| context.append_basic_block(self.function, ""));

        builder.position_before(&jump);
        let small = word.const_int(1 << (word.get_bit_width() - 2), false);
        let is_small = builder.build_int_compare(IntPredicate::ULT, step, small, "")?;
        let way = builder.build_left_shift(step, word.const_int(1, false), "")?;
        let less =
            Intrinsic::find("llvm.usub.sat").and_then(|found| found.get_declaration(self.module, &[word.into()]));
        let less = less.expect("LLVM has the difference for every integer");
        let left = builder.build_call(less, &[bound.into(), way.into()], "")?.try_as_basic_value().unwrap_basic();
        let most = builder.build_select(is_small, left.into_int_value(), word.const_zero(), "")?.into_int_value();
        let fits = builder.build_int_compare(IntPredicate::ULT, first, most, "")?;
        builder.build_conditional_branch(fits, four, head)?;
        jump.erase_from_basic_block();

        builder.position_at_end(four);
        let phis: Vec<InstructionValue<'ctx>> = llvm::phis(head).collect();
        // What is a step ahead of another phi is computed from that, so that addresses follow each other.
        let behind = compared.as_instruction_value().and_then(|ahead| self.behind(&phis, ahead));
        let mut made = Vec::new();
        let mut next = HashMap::new();
        for phi in phis.iter().filter(|phi| behind.is_none_or(|(ahead, _)| ahead != **phi)) {
            let start = value_from(*phi, before);
            let copy = builder.build_phi(start.get_type(), "")?;
            copy.add_incoming(&[(&start, before)]);
            made.push((*phi, copy));
            next.insert(*phi, copy.as_basic_value());
        }
        if let Some((ahead, behind)) = behind {
            let sum = builder.build_int_add(next[&behind].into_int_value(), self.step, "")?;
            next.insert(ahead, sum.into());
        }
        let mut values = HashMap::new();
        for _ in 0..ROUNDS {
            values = next.clone();
            for instruction in head.get_instructions().skip(phis.len()).filter(|from| !from.is_terminator()) {
                let operands: Vec<_> = llvm::value_operands(instruction)
                    .map(|(index, operand)| (index, value_in(&values, operand)))
                    .collect();
                let copy = llvm::build_copy(&builder, instruction, &operands);
                if BasicTypeEnum::try_from(instruction.get_type()).is_ok() {
                    values.insert(instruction, llvm::result(copy));
                }
            }
            next = phis.iter().map(|phi| (*phi, value_in(&values, value_from(*phi, head)))).collect();
        }
        let last = value_in(&values, compared.into()).into_int_value();
        let goes_on = builder.build_int_compare(IntPredicate::ULT, last, bound, "")?;
        builder.build_conditional_branch(goes_on, again, end)?;

        builder.position_at_end(again);
        let ahead = match compared.as_instruction_value().filter(|from| next.contains_key(from)) {
            Some(phi) => next[&phi].into_int_value(),
            None => builder.build_int_add(last, step, "")?,
        };
        let fits = builder.build_int_compare(IntPredicate::ULT, ahead, most, "")?;
        let jump = builder.build_conditional_branch(fits, four, head)?;
        phis.iter().for_each(|phi| llvm::add_incoming(*phi, next[phi], again));
        made.into_iter().for_each(|(phi, copy)| copy.add_incoming(&[(&next[&phi], again)]));
        for phi in llvm::phis(end).collect::<Vec<_>>() {
            llvm::add_incoming(phi, value_in(&values, value_from(phi, head)), four);
        }
        // It runs for the few rounds that are left.
        llvm::set_unroll(context, &found.jumps_back(), Unroll::None);
        llvm::set_unroll(context, &[jump], Unroll::None);
        Ok(())
    }

    /// The phi that a loop compares, with the one that it is always a step ahead of, if there is one.
    fn behind(
        &self,
        phis: &[InstructionValue<'ctx>],
        ahead: InstructionValue<'ctx>,
    ) -> Option<(InstructionValue<'ctx>, InstructionValue<'ctx>)> {
        let (ahead_first, _) = self.found.incoming(llvm::result(ahead))?;
        let sum = llvm::instruction_of(ahead_first).filter(|sum| sum.get_opcode() == Op::Add)?;
        let parts = (integer(sum, 0)?, integer(sum, 1)?);
        let is_behind = |phi: &&InstructionValue<'ctx>| {
            self.found.incoming(llvm::result(**phi)).is_some_and(|(first, next)| {
                let BasicValueEnum::IntValue(first) = first else { return false };
                let is_first = parts == (first, self.step) || parts == (self.step, first);
                is_first && next == llvm::result(ahead)
            })
        };
        phis.iter().find(is_behind).map(|behind| (ahead, *behind))
    }
}

/// What a value is in a round; what the loop does not compute is itself.
fn value_in<'ctx>(
    values: &HashMap<InstructionValue<'ctx>, BasicValueEnum<'ctx>>,
    value: BasicValueEnum<'ctx>,
) -> BasicValueEnum<'ctx> {
    llvm::instruction_of(value).and_then(|from| values.get(&from)).copied().unwrap_or(value)
}

/// What a phi is if control comes from a block that jumps to its own.
fn value_from<'ctx>(phi: InstructionValue<'ctx>, block: BasicBlock<'ctx>) -> BasicValueEnum<'ctx> {
    let found = llvm::incoming(phi).into_iter().find(|(_, from)| *from == block);
    found.expect("a phi has a value for every block that jumps to it").0
}

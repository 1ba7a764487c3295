//! Has loops over `a..=b` end behind their last round, where LLVM can count them.
//!
//! ```text
//! before: loop: %done = phi i1 [ false, %before ], [ %last, %body ]
//!               %j = phi i64 [ %a, %before ], [ %next, %body ]
//!               br i1 (select i1 %done, i1 true, i1 (icmp ugt i64 %j, %b)), label %end, label %body
//!         body: %last = icmp uge i64 %j, %b
//!               %next = add i64 %j, (zext i1 (xor i1 %last, true))            ; …
//!               br label %loop
//! after:  before: br i1 (icmp ugt i64 %a, %b), label %end, label %loop
//!         body: %last = icmp uge i64 %j, %b
//!               %next = add nuw i64 %j, 1                                     ; …
//!               br i1 %last, label %end, label %loop
//! ```
//!
//! `b` may be the largest number there is, so the iterator remembers that it has come to its end and does not go on. LLVM finds
//! no step in that, and no number of rounds: it unrolls no such loop, and no check of an index is taken out of one.
//!
//! **Why it is right.** A round is run where `%j` is at most `%b`. Where it is the last one, the loop was done as soon as it
//! jumped back, and now does not jump back. Where it is not, `%j` is less than `%b`, the next number is at most that, and does
//! not overflow; so the comparison at the head is only needed before the first round. The head does nothing else.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, BuilderError, Context, InstructionOpcode as Op, InstructionValue,
    IntPredicate, IntValue, Module, TargetMachine,
};
use crate::settled;

use super::branches::integer;
use super::natural::{self, Graph, Loop};

/// Such a loop.
struct Inclusive<'a, 'ctx> {
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
    body: BasicBlock<'ctx>,
    latch: BasicBlock<'ctx>,
    end: BasicBlock<'ctx>,
    /// The phis that remember whether it is done, and count.
    done: InstructionValue<'ctx>,
    counter: InstructionValue<'ctx>,
    /// The head's comparison, and what asks for it or the first phi.
    past: InstructionValue<'ctx>,
    either: InstructionValue<'ctx>,
    /// Whether it is the last round.
    last: IntValue<'ctx>,
    next: InstructionValue<'ctx>,
    bound: IntValue<'ctx>,
}

/// Rewrites every such loop.
pub fn end<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    // Most modules have none.
    let remembers = |from: InstructionValue<'_>| {
        from.get_opcode() == Op::Phi && llvm::incoming(from).iter().any(|(value, _)| is_false(*value))
    };
    if !settled::open(module).flat_map(llvm::instructions).any(remembers) {
        return Ok(());
    }
    natural::simplify(module, machine)?;
    let failed =
        |error: BuilderError| Diagnostic::error(Code::LlvmFailed, format!("cannot move the end of a loop: {error}"));
    for function in settled::open(module).filter(|function| function.count_basic_blocks() > 1) {
        for found in Graph::of(function).all() {
            // What was moved before has left the loops' blocks as they were.
            if let Some(inclusive) = Inclusive::of(context, &found) {
                inclusive.write(context).map_err(failed)?;
            }
        }
    }
    Ok(())
}

impl<'a, 'ctx> Inclusive<'a, 'ctx> {
    fn of(context: &Context, found: &'a Loop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else { return None };
        let head = found.head;
        let (end, body) = llvm::branch_targets(head.get_terminator()?)?;
        let outside: Vec<_> = llvm::predecessors(head).into_iter().filter(|from| !found.contains(*from)).collect();
        let [before] = outside[..] else { return None };
        let goes_on =
            |block: BasicBlock<'ctx>| block.get_terminator().is_some_and(|end| llvm::block_operands(end) == [head]);
        if found.contains(end) || !found.contains(body) || body == head || !goes_on(latch) || !goes_on(before) {
            return None;
        }
        if llvm::has_loop_mark(context, &found.jumps_back()) {
            return None;
        }
        let mut others = head.get_instructions().filter(|from| from.get_opcode() != Op::Phi && !from.is_terminator());
        let (past, either) = (others.next()?, others.next().filter(|_| others.next().is_none())?);
        let asks = integer(head.get_terminator()?, 0)?.as_instruction_value() == Some(either);
        let is_choice = match either.get_opcode() {
            Op::Or => true,
            Op::Select => integer(either, 1)?.get_zero_extended_constant() == Some(1),
            _ => false,
        };
        let (one, other) = (integer(either, 0)?, integer(either, if either.get_opcode() == Op::Or { 1 } else { 2 })?);
        let BasicValueEnum::IntValue(past_value) = llvm::result(past) else { return None };
        let done = if other == past_value {
            one
        } else if one == past_value {
            other
        } else {
            return None;
        };
        let done = done.as_instruction_value().filter(|done| done.get_parent() == Some(head))?;
        let (never, last) = found.incoming(llvm::result(done))?;
        let last = match last {
            BasicValueEnum::IntValue(last) if is_false(never) => last,
            _ => return None,
        };
        let (greater, least) = match past.get_icmp_predicate()? {
            IntPredicate::UGT => (IntPredicate::UGE, IntPredicate::ULT),
            IntPredicate::SGT => (IntPredicate::SGE, IntPredicate::SLT),
            _ => return None,
        };
        let (counter, bound) = (integer(past, 0)?, integer(past, 1)?);
        if !asks || !is_choice || !found.is_invariant(bound.into()) {
            return None;
        }
        let (_, next) = found.incoming(counter)?;
        let next = llvm::instruction_of(next)?;
        let compares = |value: IntValue<'ctx>, predicates: [IntPredicate; 2]| {
            value.as_instruction_value().is_some_and(|from| {
                from.get_opcode() == Op::ICmp
                    && from.get_icmp_predicate().is_some_and(|predicate| predicates.contains(&predicate))
                    && integer(from, 0) == Some(counter)
                    && integer(from, 1) == Some(bound)
            })
        };
        let not = |value: IntValue<'ctx>| {
            let from = value.as_instruction_value().filter(|from| from.get_opcode() == Op::Xor)?;
            let of = integer(from, 0)?;
            (integer(from, 1)?.get_type().get_bit_width() == 1
                && integer(from, 1)?.get_zero_extended_constant() == Some(1))
            .then_some(of)
        };
        // LLVM writes `j >= 3` as `j > 2`.
        let exceeds = |value: IntValue<'ctx>| {
            value.as_instruction_value().is_some_and(|from| {
                let less = integer(from, 1).and_then(|less| less.get_zero_extended_constant());
                from.get_opcode() == Op::ICmp
                    && from.get_icmp_predicate() == past.get_icmp_predicate()
                    && integer(from, 0) == Some(counter)
                    && less
                        .zip(bound.get_zero_extended_constant())
                        .is_some_and(|(less, bound)| bound < i32::MAX as u64 && less.checked_add(1) == Some(bound))
            })
        };
        let is_last = |value| compares(value, [greater, IntPredicate::EQ]) || exceeds(value);
        let is_not_last = |value| compares(value, [least, IntPredicate::NE]);
        let ends = is_last(last) || not(last).is_some_and(is_not_last);
        let goes = |value| is_not_last(value) || not(value).is_some_and(is_last);
        let steps = match next.get_opcode() {
            Op::Add => {
                integer(next, 0)? == counter && {
                    let step = integer(next, 1)?.as_instruction_value().filter(|step| step.get_opcode() == Op::ZExt)?;
                    integer(step, 0).is_some_and(goes)
                }
            }
            Op::Select => {
                let is_next = |value: IntValue<'ctx>| {
                    value.as_instruction_value().is_some_and(|from| {
                        from.get_opcode() == Op::Add
                            && integer(from, 0) == Some(counter)
                            && integer(from, 1).and_then(|one| one.get_zero_extended_constant()) == Some(1)
                    })
                };
                let (then, other) = (integer(next, 1)?, integer(next, 2)?);
                let condition = integer(next, 0)?;
                is_next(then) && other == counter && goes(condition)
                    || then == counter && is_next(other) && is_last(condition)
            }
            _ => false,
        };
        let counter = counter.as_instruction_value()?;
        let uses = |from: InstructionValue<'ctx>| llvm::uses(&llvm::result(from)).len();
        if !ends || !steps || uses(done) != 1 || uses(past) != 1 || uses(either) != 1 || uses(next) != 1 {
            return None;
        }
        let inclusive = Self { found, before, body, latch, end, done, counter, past, either, last, next, bound };
        let told = |phi| inclusive.told(phi).is_some();
        llvm::phis(end).all(told).then_some(inclusive)
    }

    /// What a phi of the end is where there is no round, and behind the last.
    fn told(&self, phi: InstructionValue<'ctx>) -> Option<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let (value, _) = llvm::incoming(phi).into_iter().find(|(_, from)| *from == self.found.head)?;
        if self.found.is_invariant(value) {
            return Some((value, value));
        }
        let from = llvm::instruction_of(value).filter(|from| ![self.counter, self.done].contains(from))?;
        self.found.incoming(llvm::result(from))
    }

    fn write(&self, context: &'ctx Context) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        let head = self.found.head;
        let (Some(enter), Some(choose), Some(back)) =
            (self.before.get_terminator(), head.get_terminator(), self.latch.get_terminator())
        else {
            return Ok(());
        };
        let Some((first, _)) = self.found.incoming(llvm::result(self.counter)) else { return Ok(()) };
        let Some(predicate) = self.past.get_icmp_predicate() else { return Ok(()) };
        let told: Vec<_> = llvm::phis(self.end).filter_map(|phi| self.told(phi)).collect();

        builder.position_before(&self.next);
        let counter = llvm::result(self.counter).into_int_value();
        let one = counter.get_type().const_int(1, false);
        let next = if predicate == IntPredicate::UGT {
            builder.build_int_nuw_add(counter, one, "")?
        } else {
            builder.build_int_nsw_add(counter, one, "")?
        };
        llvm::replace_uses(self.next, next.into());
        self.next.erase_from_basic_block();

        builder.position_before(&enter);
        let none = builder.build_int_compare(predicate, first.into_int_value(), self.bound, "")?;
        builder.build_conditional_branch(none, self.end, head)?;
        enter.erase_from_basic_block();

        builder.position_before(&back);
        builder.build_conditional_branch(self.last, self.end, head)?;
        back.erase_from_basic_block();

        builder.position_before(&choose);
        builder.build_unconditional_branch(self.body)?;
        choose.erase_from_basic_block();
        self.either.erase_from_basic_block();
        self.past.erase_from_basic_block();
        self.done.erase_from_basic_block();

        let mut firsts = told.iter().map(|(first, _)| *first);
        llvm::replace_predecessor(self.end, head, self.before, |old| firsts.next().unwrap_or(old));
        let phis: Vec<_> = llvm::phis(self.end).collect();
        phis.into_iter().zip(told).for_each(|(phi, (_, last))| llvm::add_incoming(phi, last, self.latch));
        Ok(())
    }
}

fn is_false(value: BasicValueEnum<'_>) -> bool {
    let BasicValueEnum::IntValue(value) = value else { return false };
    value.get_type().get_bit_width() == 1 && value.get_zero_extended_constant() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::parse_ir;
    use crate::request::OptLevel;

    const SUM: &str = "define i64 @f(ptr %p, i64 %a, i64 %b) {
        entry: br label %loop
        loop: %done = phi i1 [ false, %entry ], [ %last, %body ]
          %j = phi i64 [ %a, %entry ], [ %next, %body ]
          %sum = phi i64 [ 0, %entry ], [ %more, %body ]
          %past = icmp ugt i64 %j, %b
          %either = select i1 %done, i1 true, i1 %past
          br i1 %either, label %end, label %body
        body: %last = icmp uge i64 %j, %b
          %on = xor i1 %last, true
          %step = zext i1 %on to i64
          %next = add nuw i64 %j, %step
          %at = getelementptr i64, ptr %p, i64 %j
          %x = load i64, ptr %at
          %more = add i64 %sum, %x
          br label %loop
        end: %result = phi i64 [ %sum, %loop ]
          ret i64 %result
    }";

    /// What becomes of a function, and whether LLVM finds how many rounds there are then.
    fn ended(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        end(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    #[test]
    fn a_loop_ends_behind_its_last_round() {
        let ir = ended(SUM);
        assert!(ir.contains("icmp ugt i64 %a, %b") && ir.contains("add nuw i64 %j, 1"), "{ir}");
        assert!(ir.contains("br i1 %last") && !ir.contains("%done") && !ir.contains("%either"), "{ir}");
        let signed = SUM.replace("icmp ugt", "icmp sgt").replace("icmp uge", "icmp sge");
        assert!(ended(&signed).contains("add nsw i64 %j, 1"));
        let other =
            SUM.replace("select i1 %done, i1 true, i1 %past", "or i1 %past, %done").replace("icmp uge", "icmp eq");
        assert!(ended(&other).contains("br i1 %last"));
    }

    #[test]
    fn others_stay() {
        for (from, to) in [
            // Another bound, another step, or something else that is seen.
            ("uge i64 %j, %b", "uge i64 %j, %a"),
            ("icmp uge", "icmp ugt"),
            ("icmp uge i64 %j, %b", "icmp ugt i64 %j, 2"),
            ("icmp uge", "icmp sge"),
            ("add nuw i64 %j, %step", "add nuw i64 %a, %step"),
            ("zext i1 %on", "zext i1 %last"),
            ("phi i1 [ false", "phi i1 [ true"),
            ("[ %sum, %loop ]", "[ %j, %loop ]"),
            ("%more = add i64 %sum, %x", "%more = add i64 %sum, %next"),
            ("select i1 %done, i1 true, i1 %past", "select i1 %done, i1 %past, i1 true"),
        ] {
            assert!(ended(&SUM.replace(from, to)).contains("%done"), "{to}");
        }
    }
}

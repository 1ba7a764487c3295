//! Has a loop end by one count where it ends by several, one asked after the other.
//!
//! ```text
//! before: loop: %left = phi i64 [ %n, %before ], [ %less, %inside ]          ; `row.iter().enumerate().take(n)`
//!               %p = phi ptr [ %row, %before ], [ %next, %inside ]
//!               br i1 (icmp eq i64 %left, 0), label %end, label %more
//!         more: %is = icmp ne ptr %p, %behind
//!               %next = getelementptr inbounds nuw i8, ptr %p, i64 (select i1 %is, i64 4, i64 0)
//!               br i1 %is, label %inside, label %end
//! after:  before: %rounds = select i1 (icmp eq i64 %n, 0), i64 0, i64 (umin i64 %n, (%behind - %row) / 4)
//!         loop: %round = phi i64 [ 0, %before ], [ (add nuw i64 %round, 1), %inside ]
//!               br i1 (icmp ult i64 %round, %rounds), label %more, label %end
//!         more: %next = getelementptr inbounds nuw i8, ptr %p, i64 4
//!               br label %inside
//! ```
//!
//! An iterator that another one ends asks both before each element. LLVM neither unrolls a loop with two ends nor makes it ask
//! at its end, and what is split for its checks, too, must count.
//!
//! **Why it is right.** Each question is answered by a count: it ends the loop in a round that is known before. So the loop
//! ends in the first of these rounds, wherever in it, because all ends go to one place, with the same values, and between the
//! questions nothing is done but computed. Where the first count is 0, the others are not asked, and may mean nothing:
//! `select` does not look at them then. Elsewhere the loop would have branched on them in its first round. What an answer
//! chooses, as by how far the pointer goes on, is what follows where the loop goes on, if nothing else looks at it.
//!
//! One of the questions may also be asked at the end of a round, of the next one: LLVM writes the first question there, and
//! before the loop, where it has written the first round apart. Then the loop ends in the round behind, with what its phis are
//! in that: up to the first question that round must only compute, and what nobody looks at behind the loop. What it counts is
//! frozen, because the first round may end otherwise before it is asked.
//!
//! So are questions that the end of a round asks at once, as LLVM joins those of `x.iter().zip(y.iter().rev())`: the loop ends
//! in the first round in which one of them holds.
//!
//! Not where the function has local variables: loops over these are unrolled whole where a count is constant, which the least
//! of two is not.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntType, IntValue, Intrinsic, Module, Use,
};
use crate::settled;

use super::branches::conditions;
use super::limits::opposite;
use super::meetings::Meeting;
use super::natural::{Graph, Loop};

/// Questions one after the other: of three iterators that end together there are as many, and more with `take`.
const MOST_QUESTIONS: usize = 6;

/// How deep it is looked who looks at a value.
const MOST_STEPS: u32 = 6;

/// Does so in all functions.
pub fn end_once<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let has_local =
        |function: &FunctionValue<'ctx>| llvm::instructions(*function).any(|from| from.get_opcode() == Op::Alloca);
    for function in settled::open(module).filter(|function| !has_local(function)) {
        rewrite(context, module, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot have a loop end by one count: {error}"))
        })?;
    }
    Ok(())
}

fn rewrite<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let graph = Graph::of(function);
    for found in graph.loops() {
        let mut questions = questions(&found);
        let last = last(&found, &questions);
        questions.extend(last);
        if questions.len() < 2 {
            if let (Some(joined), Some(before)) = (joined(&found), entry(&found)) {
                let stage = Stage { context, module, builder: context.create_builder(), found: &found, before };
                stage.write_joined(&joined)?;
            }
            continue;
        }
        questions.iter().for_each(|question| question.answer(&graph));
        let asked: Vec<_> = questions.iter().map(|question| question.block).collect();
        let mut counted: Vec<_> =
            questions.iter().filter_map(|question| Some((*question, Count::of(&found, question)?))).collect();
        if let [(first, _), .., (last, _)] = &counted[..]
            && last.is_last
            && let Some(at) = asked.iter().position(|block| *block == first.block)
            && !begins_unseen(&found, &asked[..=at])
        {
            counted.pop();
        }
        if let ([latch], [_, _, ..]) = (&found.latches[..], &counted[..])
            && let Some(before) = entry(&found)
        {
            let stage = Stage { context, module, builder: context.create_builder(), found: &found, before };
            stage.write(*latch, &counted, &asked)?;
        }
    }
    Ok(())
}

/// The only block that a loop is entered from.
fn entry<'ctx>(found: &Loop<'ctx>) -> Option<BasicBlock<'ctx>> {
    let before = llvm::predecessors(found.head);
    let mut outside = before.iter().filter(|block| !found.contains(**block));
    let only = outside.next().filter(|_| outside.next().is_none())?;
    let jumps_once = |block: BasicBlock<'ctx>| {
        let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        targets.iter().filter(|to| **to == found.head).count() == 1
    };
    before.iter().all(|block| jumps_once(*block)).then_some(*only)
}

/// What a loop asks before it does anything in a round.
#[derive(Clone, Copy)]
struct Question<'ctx> {
    block: BasicBlock<'ctx>,
    branch: InstructionValue<'ctx>,
    condition: InstructionValue<'ctx>,
    /// Whether the loop goes on where the condition holds.
    goes_on: bool,
    /// Where it goes on.
    inside: BasicBlock<'ctx>,
    /// Whether it is asked of the next round.
    is_last: bool,
}

/// The questions at the head of a loop that end it at the same place, with the same values.
fn questions<'ctx>(found: &Loop<'ctx>) -> Vec<Question<'ctx>> {
    let mut all: Vec<Question<'ctx>> = Vec::new();
    let mut place: Option<BasicBlock<'ctx>> = None;
    let mut block = found.head;
    while all.len() < MOST_QUESTIONS {
        let Some((question, outside)) = Question::of(found, block) else { break };
        let is_first = block == found.head;
        if !is_first && (place != Some(outside) || !only_computes(block) || !are_alike(outside, found.head, block)) {
            break;
        }
        place = Some(outside);
        block = question.inside;
        let from = question.block;
        all.push(question);
        if block == found.head || llvm::predecessors(block)[..] != [from] {
            break;
        }
    }
    all
}

/// The question at the end of a round that ends the loop at the same place as those at its head, as if it were the first of them.
fn last<'ctx>(found: &Loop<'ctx>, questions: &[Question<'ctx>]) -> Option<Question<'ctx>> {
    let ([latch], Some(first)) = (&found.latches[..], questions.first()) else { return None };
    let (question, outside) = Question::of(found, *latch)?;
    let is_asked = questions.iter().any(|asked| asked.block == *latch || asked.inside == found.head);
    let targets = first.branch.get_parent().and_then(|block| block.get_terminator()).map(llvm::block_operands)?;
    let is_next = |phi| {
        let incoming = llvm::incoming(phi);
        let from = |block| incoming.iter().find(|(_, from)| *from == block).map(|(value, _)| *value);
        let (Some(now), Some(next)) = (from(first.block), from(*latch)) else { return false };
        let follows = || {
            let phi = llvm::instruction_of(now).filter(|phi| phi.get_parent() == Some(found.head));
            phi.and_then(|phi| llvm::incoming_from(phi, *latch)) == Some(next)
        };
        now == next && found.is_invariant(now) || follows()
    };
    let is_one = !is_asked && question.inside == found.head && targets.contains(&outside);
    (is_one && llvm::phis(outside).all(is_next)).then_some(Question { is_last: true, ..question })
}

/// Whether a round may begin once more behind the last one: up to its first question that counts it only computes, and nobody
/// looks at that behind the loop, but for what its end takes by [`last`].
fn begins_unseen<'ctx>(found: &Loop<'ctx>, blocks: &[BasicBlock<'ctx>]) -> bool {
    let is_inside = |user: Use<'ctx>| {
        let Use::Instruction(user) = user else { return false };
        let is_in = |block: BasicBlock<'ctx>| found.contains(block);
        let is_end = || {
            let from = user.get_parent().map(llvm::predecessors).unwrap_or_default();
            user.get_opcode() == Op::Phi && from.into_iter().all(is_in)
        };
        user.get_parent().is_some_and(is_in) || is_end()
    };
    blocks.iter().flat_map(|block| block.get_instructions()).all(|from| {
        let computes = from.get_opcode() == Op::Phi || llvm::is_pure(from);
        from.is_terminator() || computes && llvm::uses(&llvm::result(from)).into_iter().all(is_inside)
    })
}

/// The questions that the end of a round asks at once, if all of them count.
fn joined<'ctx>(found: &Loop<'ctx>) -> Option<Vec<(Question<'ctx>, Count<'ctx>)>> {
    let [latch] = found.latches[..] else { return None };
    let (all, _) = Question::of(found, latch)?;
    let parts = conditions(latch, found.head);
    if all.inside != found.head || !(2..=MOST_QUESTIONS).contains(&parts.len()) {
        return None;
    }
    let counted = |part: Option<InstructionValue<'ctx>>| {
        let question = Question { condition: part?, is_last: true, ..all };
        let count = Count::of(found, &question)?;
        Some((question, count))
    };
    parts.into_iter().map(counted).collect()
}

/// Whether a block has nothing that could be seen, nor phis.
fn only_computes(block: BasicBlock<'_>) -> bool {
    block.get_instructions().all(|from| from.is_terminator() || llvm::is_pure(from) || is_assumption(from))
}

fn is_assumption(from: InstructionValue<'_>) -> bool {
    llvm::called_function(from).is_some_and(|callee| callee.get_name().to_bytes() == b"llvm.assume")
}

/// Whether two blocks lead to a third one with the same values.
fn are_alike<'ctx>(to: BasicBlock<'ctx>, one: BasicBlock<'ctx>, other: BasicBlock<'ctx>) -> bool {
    llvm::phis(to).all(|phi| {
        let incoming = llvm::incoming(phi);
        let from = |block| incoming.iter().find(|(_, from)| *from == block).map(|(value, _)| *value);
        from(one).is_some() && from(one) == from(other)
    })
}

impl<'ctx> Question<'ctx> {
    /// What a block asks, and where the loop ends by it.
    fn of(found: &Loop<'ctx>, block: BasicBlock<'ctx>) -> Option<(Self, BasicBlock<'ctx>)> {
        let branch = block.get_terminator()?;
        let (then, other) = llvm::branch_targets(branch)?;
        let condition = llvm::int_operand(branch, 0)?.as_instruction_value()?;
        let (goes_on, inside, outside) = match (found.contains(then), found.contains(other)) {
            (true, false) => (true, then, other),
            (false, true) => (false, other, then),
            _ => return None,
        };
        Some((Self { block, branch, condition, goes_on, inside, is_last: false }, outside))
    }

    /// Has what the answer chooses be what it is where the loop goes on, if only that is looked at.
    fn answer(&self, graph: &Graph<'ctx>) {
        if llvm::predecessors(self.inside)[..] != [self.block] {
            return;
        }
        let BasicValueEnum::IntValue(condition) = llvm::result(self.condition) else { return };
        for user in llvm::uses(&condition) {
            let Use::Instruction(user) = user else { continue };
            let chosen = match user.get_opcode() {
                Op::Select if llvm::int_operand(user, 0) == Some(condition) => {
                    user.get_operand(if self.goes_on { 1 } else { 2 }).and_then(|value| value.value())
                }
                Op::ZExt => match llvm::result(user) {
                    BasicValueEnum::IntValue(number) => {
                        Some(number.get_type().const_int(u64::from(self.goes_on), false).into())
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some(value) = chosen
                && user.get_parent() == Some(self.block)
                && self.follows(user, graph, MOST_STEPS)
            {
                llvm::replace_uses(user, value);
            }
        }
    }

    /// Whether a value is looked at only where the loop goes on.
    fn follows(&self, value: InstructionValue<'ctx>, graph: &Graph<'ctx>, steps: u32) -> bool {
        let is_behind = |block| graph.is_reached_by_way_of(block, self.inside);
        steps > 0
            && llvm::uses(&llvm::result(value)).into_iter().all(|user| {
                let Use::Instruction(user) = user else { return false };
                let Some(block) = user.get_parent() else { return false };
                if user.get_opcode() == Op::Phi {
                    let from = llvm::incoming(user).into_iter().filter(|(of, _)| *of == llvm::result(value));
                    return from.into_iter().all(|(_, from)| is_behind(from));
                }
                is_behind(block) || block == self.block && llvm::is_pure(user) && self.follows(user, graph, steps - 1)
            })
    }
}

/// In which round a question ends its loop.
enum Count<'ctx> {
    /// Where an address is another one.
    Address(Meeting<'ctx>),
    /// Where a number that goes up, or down, by 1 equals another one, which may be asked of the number of the next round.
    Equal { first: IntValue<'ctx>, ahead: bool, bound: IntValue<'ctx>, down: bool },
    /// Where a number that goes up by 1 is no longer below another one.
    Below { first: IntValue<'ctx>, ahead: bool, bound: IntValue<'ctx> },
}

impl<'ctx> Count<'ctx> {
    fn of(found: &Loop<'ctx>, question: &Question<'ctx>) -> Option<Self> {
        use IntPredicate as P;
        let compared = question.condition;
        let predicate = compared.get_icmp_predicate()?;
        let goes_on = if question.goes_on { predicate } else { opposite(predicate) };
        let (left, right) = match (llvm::int_operand(compared, 0), llvm::int_operand(compared, 1)) {
            (Some(left), Some(right)) => (left, right),
            _ if goes_on == P::NE => return Meeting::of_either(found, compared).map(Self::Address),
            _ => return None,
        };
        let is_bound = |value: IntValue<'ctx>| found.is_invariant(value.into());
        let (counter, bound, goes_on) = match (is_bound(left), is_bound(right)) {
            (false, true) => (left, right, goes_on),
            (true, false) => (right, left, mirrored(goes_on)?),
            _ => return None,
        };
        // What is asked at the end of a round is asked of the next number.
        let before = counter.as_instruction_value().filter(|next| question.is_last && next.get_opcode() == Op::Add);
        let ahead = before.is_some();
        let counter = before.map_or(Some(counter), |next| llvm::int_operand(next, 0))?;
        let (BasicValueEnum::IntValue(first), BasicValueEnum::IntValue(next)) = found.incoming(counter)? else {
            return None;
        };
        if before.is_some_and(|before| next.as_instruction_value() != Some(before)) {
            return None;
        }
        let step = next.as_instruction_value().filter(|next| next.get_opcode() == Op::Add)?;
        let is_known =
            llvm::int_operand(step, 0) == Some(counter) && matches!(counter.get_type().get_bit_width(), 32 | 64);
        let by = llvm::int_operand(step, 1).filter(|_| is_known)?.get_sign_extended_constant()?;
        match (goes_on, by) {
            (P::NE, 1 | -1) => Some(Self::Equal { first, ahead, bound, down: by < 0 }),
            (P::ULT, 1) => Some(Self::Below { first, ahead, bound }),
            _ => None,
        }
    }
}

/// The comparison with its sides the other way around.
fn mirrored(predicate: IntPredicate) -> Option<IntPredicate> {
    match predicate {
        IntPredicate::NE => Some(IntPredicate::NE),
        IntPredicate::UGT => Some(IntPredicate::ULT),
        _ => None,
    }
}

struct Stage<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    found: &'a Loop<'ctx>,
    before: BasicBlock<'ctx>,
}

impl<'ctx> Stage<'_, 'ctx> {
    /// Has the first of the questions ask for all of them.
    fn write(
        &self,
        latch: BasicBlock<'ctx>,
        counted: &[(Question<'ctx>, Count<'ctx>)],
        all: &[BasicBlock<'ctx>],
    ) -> std::result::Result<(), BuilderError> {
        let word = self.context.i64_type();
        let Some(enters) = self.before.get_terminator() else { return Ok(()) };
        self.builder.position_before(&enters);
        let mut rounds: Option<IntValue<'ctx>> = None;
        for (at, (question, count)) in counted.iter().enumerate() {
            let mut count = self.count(count, word)?;
            // Another question between, which does not count, may end the first round before this one is asked.
            if question.is_last || at > 0 && counted.len() < all.len() {
                count = llvm::build_freeze(&self.builder, count);
            }
            if question.is_last {
                count = self.call("llvm.uadd.sat", count, word.const_int(1, false))?;
            }
            rounds = Some(match rounds {
                Some(before) => self.least(before, count)?,
                None => count,
            });
        }
        let rounds = rounds.expect("there are several");
        let Some(first) = self.found.head.get_first_instruction() else { return Ok(()) };
        self.builder.position_before(&first);
        let round = self.builder.build_phi(word, "")?;
        let number = round.as_basic_value().into_int_value();
        let [(asked, _), others @ ..] = counted else { return Ok(()) };
        self.builder.position_before(&asked.branch);
        let predicate = if asked.goes_on { IntPredicate::ULT } else { IntPredicate::UGE };
        let condition = self.builder.build_int_compare(predicate, number, rounds, "")?;
        if let Some(jump) = latch.get_terminator() {
            self.builder.position_before(&jump);
        }
        let next = self.builder.build_int_nuw_add(number, word.const_int(1, false), "")?;
        round.add_incoming(&[(&word.const_zero(), self.before), (&next, latch)]);
        llvm::set_condition(asked.branch, condition);
        others.iter().for_each(|(other, _)| llvm::always_branch(self.context, other.branch, other.goes_on));
        Ok(())
    }

    /// Has the end of a round ask one question for several that it asks at once.
    fn write_joined(&self, all: &[(Question<'ctx>, Count<'ctx>)]) -> std::result::Result<(), BuilderError> {
        let word = self.context.i64_type();
        let (Some(enters), Some((asked, _))) = (self.before.get_terminator(), all.first()) else { return Ok(()) };
        self.builder.position_before(&enters);
        let mut rounds: Option<IntValue<'ctx>> = None;
        for (_, count) in all {
            let count = self.count(count, word)?;
            let count = llvm::build_freeze(&self.builder, count);
            rounds = Some(match rounds {
                Some(before) => self.call("llvm.umin", before, count)?,
                None => count,
            });
        }
        let rounds = rounds.expect("there are several");
        let Some(first) = self.found.head.get_first_instruction() else { return Ok(()) };
        self.builder.position_before(&first);
        let round = self.builder.build_phi(word, "")?;
        let number = round.as_basic_value().into_int_value();
        self.builder.position_before(&asked.branch);
        // One more than the last number may not fit.
        let next = self.builder.build_int_add(number, word.const_int(1, false), "")?;
        let predicate = if asked.goes_on { IntPredicate::NE } else { IntPredicate::EQ };
        let condition = self.builder.build_int_compare(predicate, number, rounds, "")?;
        round.add_incoming(&[(&word.const_zero(), self.before), (&next, asked.block)]);
        llvm::set_condition(asked.branch, condition);
        Ok(())
    }

    fn count(&self, count: &Count<'ctx>, word: IntType<'ctx>) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let at = |first: IntValue<'ctx>, ahead: bool, down: bool| match (ahead, first.get_type().const_int(1, false)) {
            (false, _) => Ok(first),
            (true, one) if down => self.builder.build_int_sub(first, one, ""),
            (true, one) => self.builder.build_int_add(first, one, ""),
        };
        let number = match *count {
            Count::Address(ref meeting) => meeting.round(&self.builder, word)?,
            Count::Equal { first, ahead, bound, down: false } => {
                self.builder.build_int_sub(bound, at(first, ahead, false)?, "")?
            }
            Count::Equal { first, ahead, bound, down: true } => {
                self.builder.build_int_sub(at(first, ahead, true)?, bound, "")?
            }
            Count::Below { first, ahead, bound } => self.call("llvm.usub.sat", bound, at(first, ahead, false)?)?,
        };
        if number.get_type() == word { Ok(number) } else { self.builder.build_int_z_extend(number, word, "") }
    }

    /// The smaller of two counts, the second of which may mean nothing where the first is 0.
    fn least(
        &self,
        first: IntValue<'ctx>,
        second: IntValue<'ctx>,
    ) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let zero = first.get_type().const_zero();
        let is_none = self.builder.build_int_compare(IntPredicate::EQ, first, zero, "")?;
        let least = self.call("llvm.umin", first, second)?;
        Ok(self.builder.build_select(is_none, zero, least, "")?.into_int_value())
    }

    fn call(
        &self,
        name: &str,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
    ) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let found =
            Intrinsic::find(name).and_then(|found| found.get_declaration(self.module, &[left.get_type().into()]));
        let function = found.expect("LLVM has it for all integers");
        let call = self.builder.build_call(function, &[left.into(), right.into()], "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    fn after(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        end_once(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// What `row.iter().enumerate().take(n)` becomes, with another first question, second question, exit, and what stands between.
    fn ended(first: &str, second: &str, told: &str, between: &str) -> String {
        let text = format!(
            "define void @f(ptr %row, ptr %to, i64 %len, i64 %n, i1 %other) {{
            entry: %behind = getelementptr inbounds nuw float, ptr %row, i64 %len
              br label %loop
            loop: %left = phi i64 [ %n, %entry ], [ %less, %inside ]
              %k = phi i64 [ 0, %entry ], [ %more, %inside ]
              %p = phi ptr [ %row, %entry ], [ %next, %inside ]
              %none = {first}
              br i1 %none, label %end, label %ask
            ask: %less = add i64 %left, -1
              %is = {second}
              %way = select i1 %is, i64 4, i64 0
              %next = getelementptr inbounds nuw i8, ptr %p, i64 %way
              %one = zext i1 %is to i64
              %more = add i64 %k, %one
              {between}
              br i1 %is, label %inside, label %end
            inside: store volatile ptr %p, ptr %to
              br label %loop
            end: %last = phi i64 [ %k, %loop ], [ {told}, %ask ]
              store volatile i64 %last, ptr %to
              ret void
            }}"
        );
        after(&text)
    }

    const LEFT: &str = "icmp eq i64 %left, 0";
    const POINTER: &str = "icmp ne ptr %p, %behind";

    #[test]
    fn the_least_count_ends_a_loop() {
        let ir = ended(LEFT, POINTER, "%k", "");
        assert!(ir.contains("br i1 true, label %inside, label %end") && ir.contains("@llvm.umin.i64"), "{ir}");
        // Where the loop goes on, the answer is known.
        assert!(ir.contains("ptr %p, i64 4") && ir.contains("add i64 %k, 1"), "{ir}");
        // Of no elements nobody asks where they end.
        assert!(ir.contains("sub i64 %n, 0") && ir.contains("i64 0, i64 %6"), "{ir}");
        let ir = ended("icmp uge i64 %k, %n", POINTER, "%k", "");
        assert!(ir.contains("@llvm.usub.sat.i64(i64 %n, i64 0)"), "{ir}");
    }

    /// What `x.iter().enumerate().skip(i).take(n)` becomes: its first question is asked at the end of a round.
    fn ended_behind(asked: &str, told: &str) -> String {
        let text = format!(
            "define void @f(ptr %row, ptr %to, i64 %len, i64 %n, i64 %from, i1 %zero) {{
            entry: %behind = getelementptr inbounds nuw float, ptr %row, i64 %len
              br i1 %zero, label %ready, label %moved
            moved: %far = getelementptr inbounds nuw float, ptr %row, i64 %from
              br label %ready
            ready: %begin = phi ptr [ %far, %moved ], [ %row, %entry ]
              br label %loop
            loop: %left = phi i64 [ %n, %ready ], [ %less, %inside ]
              %p = phi ptr [ %begin, %ready ], [ %next, %inside ]
              %next = getelementptr inbounds nuw i8, ptr %p, i64 4
              %none = icmp eq ptr %next, %behind
              br i1 %none, label %end, label %inside
            inside: store volatile ptr %p, ptr %to
              %less = add i64 %left, -1
              %done = {asked}
              br i1 %done, label %end, label %loop
            end: %last = phi i64 [ %left, %loop ], [ {told}, %inside ]
              store volatile i64 %last, ptr %to
              ret void
            }}"
        );
        after(&text)
    }

    #[test]
    fn a_question_of_the_next_round_is_one_of_them() {
        for asked in ["icmp eq i64 %less, 0", "icmp eq i64 %left, 1"] {
            let ir = ended_behind(asked, "%less");
            // It may never be asked.
            let count = ir.find("freeze i64").zip(ir.find("call i64 @llvm.uadd.sat.i64"));
            assert!(count.is_some_and(|(freeze, sum)| freeze < sum), "{ir}");
            assert!(ir.contains("br i1 false, label %end, label %loop"), "{ir}");
        }
        for (asked, told) in [
            ("icmp eq i64 %less, 0", "%left"),
            ("icmp eq i64 %left, %less", "%less"),
            ("icmp ugt i64 %less, 7", "%less"),
        ] {
            let ir = ended_behind(asked, told);
            assert!(!ir.contains("br i1 false"), "{asked}, {told}: {ir}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for (first, second, told, between) in [
            ("icmp eq i64 %left, %k", POINTER, "%k", ""),
            ("icmp ugt i64 %left, %n", POINTER, "%k", ""),
            (LEFT, "icmp ne ptr %p, %to", "%k", ""),
            (LEFT, "freeze i1 %other", "%k", ""),
            // Another value, and what others see.
            (LEFT, POINTER, "%left", ""),
            (LEFT, POINTER, "%k", "store volatile ptr %p, ptr %to"),
        ] {
            let ir = ended(first, second, told, between);
            assert!(!ir.contains("br i1 true"), "{first}, {second}, {told}, {between}: {ir}");
        }
    }
}

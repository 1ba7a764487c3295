//! Makes one loop of two where the outer one only begins the inner one again, and gives such a loop one block that jumps back.
//!
//! ```text
//! before: outer: %j = phi i64 [ %first, %before ], [ %next, %rest ]    ; `for j in … { if far(j) { continue } sum += … }`
//!                %sum = phi float [ 0.0, %before ], [ %more, %rest ]
//!                br label %inner
//!         inner: %i = phi i64 [ %j, %outer ], [ %next, %near ]
//!                br i1 (icmp ult i64 %i, %end), label %near, label %out
//!         near:  %next = add i64 %i, 1
//!                br i1 %far, label %inner, label %rest                               ; the next one is looked for
//!         rest:  …   br label %outer
//! after:  loop:  %i = phi i64 [ %first, %before ], [ %next, %again ]
//!                %sum = phi float [ 0.0, %before ], [ %new, %again ]
//!         near:  br i1 %far, label %again, label %rest
//!         again: %new = phi float [ %sum, %near ], [ %more, %rest ]
//!                br label %loop
//! ```
//!
//! Where rustc has turned both loops around, each asks at its own end whether there is another round, and the loop that they
//! become would have two ends, of which LLVM counts neither. They ask the same, and then one block does for both.
//!
//! Where the end is a constant, LLVM has the inner loop ask whether it is there already, and the outer head compute where that
//! is: `%last = umax(%j, 3)`, and `icmp eq %i, %last`. It asks `icmp uge %i, 3` again, so that the outer head does nothing.
//!
//! LLVM takes a loop with a `continue` that leaves a number as it is for two, and rustc has done so before we see it. Then
//! each thread of a warp looks for its own next element, and all wait until the last one has found one: among 32 threads one
//! mostly looks for long, and what the threads then do together is seldom worth the wait. Such loops are also neither counted
//! nor unrolled. nvcc leaves them as they were written.
//!
//! An outer head may also compute, as where the next element of another iterator is, and ask whether there is one, which is then
//! done again in each round of the inner loop: `rows.zip(chunks.filter_map(…))`.
//!
//! **Why it is right.** The outer head does nothing but compute, of what stays the same while the inner loop goes on, so it gives
//! the same numbers again, and goes the same way. What the inner head takes from it nothing else looks at, so a jump back
//! to the inner head may go by way of the outer one with the inner loop's next value in its place; what the outer head alone
//! keeps stays as it is. A number that grows by one from `%j`, until it is the larger of `%j` and an end, is that exactly where
//! it is at least the end: below it is neither, and where `%j` is not, it is both at once. The same blocks follow each other, with the same values. Where threads come together, a loop stays
//! as it is.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionValue,
    InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, Module, Use,
};
use crate::settled;

use super::asked::Question;
use super::branches::is_convergent;
use super::marked::is_marked;
use super::natural::{Graph, Loop};

/// Instructions of an outer head that each round of the inner loop computes again.
const MOST_AGAIN: usize = 8;

/// Joins loops in all functions, and gives each one a single block that jumps back.
pub fn join<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open(module).filter(|function| function.count_basic_blocks() > 1) {
        let builder = context.create_builder();
        let failed = |error: BuilderError| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot have a loop ask for its end: {error}"))
        };
        ask_for_ends(&builder, function).map_err(failed)?;
        while join_one(function) {}
        meet(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot give a loop one jump back: {error}"))
        })?;
    }
    Ok(())
}

/// Has each inner loop ask whether it is at its end, and not whether it is where the outer head has computed that it will be.
fn ask_for_ends<'ctx>(builder: &Builder<'ctx>, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let loops = Graph::of(function).loops();
    for inner in &loops {
        for outer in loops.iter().filter(|outer| goes_in(outer, inner)) {
            for largest in outer.head.get_instructions().collect::<Vec<_>>() {
                if let Some(end) = End::of(outer, inner, largest) {
                    end.ask(builder)?;
                }
            }
        }
    }
    Ok(())
}

/// Where an inner loop ends that begins with a number of the outer head and goes on by one.
struct End<'ctx> {
    /// The larger one of that number and the end.
    largest: InstructionValue<'ctx>,
    /// Whether it is there.
    condition: InstructionValue<'ctx>,
    number: IntValue<'ctx>,
    end: IntValue<'ctx>,
    is_signed: bool,
}

impl<'ctx> End<'ctx> {
    fn of(outer: &Loop<'ctx>, inner: &Loop<'ctx>, largest: InstructionValue<'ctx>) -> Option<Self> {
        let is_signed = llvm::calls(largest, &["llvm.smax."]);
        if !is_signed && !llvm::calls(largest, &["llvm.umax."]) {
            return None;
        }
        let (one, other) = (llvm::int_operand(largest, 0)?, llvm::int_operand(largest, 1)?);
        let is_of_head = |value: &IntValue<'ctx>| {
            value
                .as_instruction_value()
                .is_some_and(|from| from.get_opcode() == Op::Phi && from.get_parent() == Some(outer.head))
        };
        let (first, end) = if is_of_head(&one) { (one, other) } else { (other, one) };
        let [Use::Instruction(condition)] = llvm::uses(&llvm::result(largest))[..] else { return None };
        let question = inner.head.get_terminator()?;
        let (then, other) = llvm::branch_targets(question)?;
        // Where it is there, the loop must end: one that goes on by that would go on past it.
        let leaves = match condition.get_icmp_predicate()? {
            IntPredicate::EQ => !inner.contains(then),
            IntPredicate::NE => !inner.contains(other),
            _ => false,
        };
        let asks = question.get_operand(0)?.value()? == llvm::result(condition);
        let (left, right) = (llvm::int_operand(condition, 0)?, llvm::int_operand(condition, 1)?);
        let number = if llvm::instruction_of(left.into()) == Some(largest) { right } else { left };
        let grows = |value: BasicValueEnum<'ctx>| {
            llvm::instruction_of(value).is_some_and(|sum| {
                sum.get_opcode() == Op::Add
                    && llvm::int_operand(sum, 0) == Some(number)
                    && llvm::int_operand(sum, 1).and_then(IntValue::get_zero_extended_constant) == Some(1)
            })
        };
        let phi = number.as_instruction_value().filter(|phi| phi.get_opcode() == Op::Phi)?;
        let is_counter = llvm::incoming(phi).into_iter().all(|(value, block)| {
            if inner.contains(block) { grows(value) } else { value == BasicValueEnum::from(first) }
        });
        let is_one = is_of_head(&first)
            && outer.is_invariant(end.into())
            && leaves
            && asks
            && phi.get_parent() == Some(inner.head)
            && condition.get_parent() == Some(inner.head)
            && is_counter;
        is_one.then_some(Self { largest, condition, number, end, is_signed })
    }

    fn ask(&self, builder: &Builder<'ctx>) -> std::result::Result<(), BuilderError> {
        let predicate = match (self.condition.get_icmp_predicate(), self.is_signed) {
            (Some(IntPredicate::EQ), false) => IntPredicate::UGE,
            (Some(IntPredicate::EQ), true) => IntPredicate::SGE,
            (_, false) => IntPredicate::ULT,
            (_, true) => IntPredicate::SLT,
        };
        builder.position_before(&self.condition);
        let condition = builder.build_int_compare(predicate, self.number, self.end, "")?;
        llvm::replace_uses(self.condition, condition.into());
        self.condition.erase_from_basic_block();
        self.largest.erase_from_basic_block();
        Ok(())
    }
}

/// Joins two loops, if there are such, and says so.
fn join_one(function: FunctionValue<'_>) -> bool {
    let loops = Graph::of(function).loops();
    let pair = loops.iter().find_map(|inner| {
        let outer = loops.iter().find(|outer| Pair::is(outer, inner))?;
        Pair::of(outer, inner)
    });
    pair.map(|pair| pair.join()).is_some()
}

/// Whether an outer loop's head goes to an inner loop.
fn goes_in(outer: &Loop<'_>, inner: &Loop<'_>) -> bool {
    outer.head != inner.head
        && outer.contains(inner.head)
        && outer.head.get_terminator().is_some_and(|end| llvm::block_operands(end)[..] == [inner.head])
}

/// Whether an outer loop's head may go to an inner loop.
fn leads_in(outer: &Loop<'_>, inner: &Loop<'_>) -> bool {
    let targets = outer.head.get_terminator().map(llvm::block_operands).unwrap_or_default();
    outer.head != inner.head
        && outer.contains(inner.head)
        && targets.iter().filter(|to| **to == inner.head).count() == 1
        && targets.iter().all(|to| *to == inner.head || !inner.contains(*to))
}

/// An outer loop whose head does no more than compute before it goes to an inner one.
struct Pair<'a, 'ctx> {
    outer: &'a Loop<'ctx>,
    inner: &'a Loop<'ctx>,
    /// Each phi of the inner head, and the one of the outer head that it begins with.
    carried: Vec<(InstructionValue<'ctx>, InstructionValue<'ctx>)>,
}

impl<'a, 'ctx> Pair<'a, 'ctx> {
    /// Whether there is nothing that threads do together.
    fn is(outer: &Loop<'ctx>, inner: &Loop<'ctx>) -> bool {
        let computes = |from: &InstructionValue<'ctx>| from.get_opcode() != Op::Phi && !from.is_terminator();
        let done: Vec<_> = outer.head.get_instructions().filter(computes).collect();
        leads_in(outer, inner)
            && done.len() <= MOST_AGAIN
            && done.into_iter().all(llvm::is_pure)
            && !outer.blocks.iter().flat_map(|block| block.get_instructions()).any(is_convergent)
    }

    fn of(outer: &'a Loop<'ctx>, inner: &'a Loop<'ctx>) -> Option<Self> {
        let comes_in = |block: &BasicBlock<'ctx>| *block == outer.head || inner.latches.contains(block);
        let carried: Vec<_> =
            llvm::phis(inner.head).map(|phi| Some((phi, begins(outer, phi)?))).collect::<Option<_>>()?;
        let is_once =
            carried.iter().enumerate().all(|(at, (_, from))| carried[at + 1..].iter().all(|(_, other)| other != from));
        // A phi has an entry for each jump, and `join` adds one for each block.
        let jumps_once = |latch: &BasicBlock<'ctx>| {
            let targets = latch.get_terminator().map(llvm::block_operands).unwrap_or_default();
            targets.iter().filter(|to| **to == inner.head).count() == 1
        };
        let is_fit = is_once
            && !carried.is_empty()
            && inner.latches.iter().all(jumps_once)
            && llvm::predecessors(inner.head).iter().all(comes_in);
        is_fit.then_some(Self { outer, inner, carried })
    }

    fn join(&self) {
        let head = self.inner.head;
        let told =
            |phi, from| llvm::incoming(phi).into_iter().find(|(_, block)| *block == from).map(|(value, _)| value);
        // A phi of the inner head that is the next value of another one becomes a phi of the outer head.
        let outer_of = |value: BasicValueEnum<'ctx>| {
            let carried = self.carried.iter().find(|(phi, _)| llvm::result(*phi) == value);
            carried.map_or(value, |(_, from)| llvm::result(*from))
        };
        for phi in llvm::phis(self.outer.head).collect::<Vec<_>>() {
            let carried = self.carried.iter().find(|(_, from)| *from == phi).map(|(phi, _)| *phi);
            for latch in &self.inner.latches {
                let next = carried.and_then(|carried| told(carried, *latch)).map(outer_of);
                llvm::add_incoming(phi, next.unwrap_or(llvm::result(phi)), *latch);
            }
        }
        for (phi, from) in &self.carried {
            llvm::replace_uses(*phi, llvm::result(*from));
            phi.erase_from_basic_block();
        }
        for jump in self.inner.latches.iter().filter_map(|latch| latch.get_terminator()) {
            llvm::retarget(jump, head, self.outer.head);
        }
    }
}

/// The phi of the outer head that one of the inner head begins with, if nothing else looks at it.
fn begins<'ctx>(outer: &Loop<'ctx>, phi: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let (value, _) = llvm::incoming(phi).into_iter().find(|(_, block)| *block == outer.head)?;
    let from = llvm::instruction_of(value)?;
    let is_of_head = from.get_opcode() == Op::Phi && from.get_parent() == Some(outer.head);
    let users = llvm::uses(&value);
    (is_of_head && users.iter().all(|user| matches!(user, Use::Instruction(user) if *user == phi))).then_some(from)
}

/// Gives each loop that several blocks jump back in one that does.
fn meet<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    for found in Graph::of(function).loops() {
        let jumps = found.jumps_back();
        let is_shared = found.blocks.iter().flat_map(|block| block.get_instructions()).any(is_convergent);
        if found.latches.len() < 2 || is_shared || is_marked(context, &jumps) {
            continue;
        }
        llvm::forget_loop(context, &jumps);
        let Some(last) = found.blocks.last() else { continue };
        let again = context.insert_basic_block_after(*last, "");
        llvm::join_predecessors(found.head, &found.latches, again);
        let builder = context.create_builder();
        if let Some(question) = Question::of_all(&jumps) {
            question.ask_once(&builder, &found, again)?;
            continue;
        }
        jumps.iter().for_each(|jump| llvm::retarget(*jump, found.head, again));
        builder.position_at_end(again);
        builder.build_unconditional_branch(found.head)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    fn joined(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        join(&context, &module).unwrap();
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    /// Two loops; what is between them, what the inner one begins with, and what is done with the outer one's number.
    fn two(between: &str, first: &str, use_of_outer: &str) -> String {
        let barrier = "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent";
        of_two(barrier, between, first, use_of_outer, "icmp ult i64 %i, %end", "add i64 %i, 1")
    }

    /// The same, where the inner one ends by another question, or goes on otherwise.
    fn two_that_end(declared: &str, between: &str, asked: &str, next: &str) -> String {
        of_two(declared, between, "%j", "", asked, next)
    }

    fn of_two(declared: &str, between: &str, first: &str, use_of_outer: &str, asked: &str, next: &str) -> String {
        joined(&format!(
            "{declared}
            define float @f(i64 %end, ptr %p) {{
            entry: br label %outer
            outer: %j = phi i64 [ 0, %entry ], [ %next, %rest ]
              %sum = phi float [ 0.0, %entry ], [ %more, %rest ]
              {between}
              br label %inner
            inner: %i = phi i64 [ {first}, %outer ], [ %next, %near ]
              %go = {asked}
              br i1 %go, label %near, label %out
            near: %next = {next}
              %at = getelementptr float, ptr %p, i64 %i
              %x = load float, ptr %at
              %far = fcmp ogt float %x, 1.0
              br i1 %far, label %inner, label %rest
            rest: %more = fadd float %sum, %x
              {use_of_outer}
              br label %outer
            out: ret float %sum
            }}"
        ))
    }

    #[test]
    fn an_end_that_was_computed_is_asked_for() {
        let ended = |between: &str, asked: &str, next: &str| {
            two_that_end(
                "declare i64 @llvm.umax.i64(i64, i64)\ndeclare i64 @llvm.smax.i64(i64, i64)\n",
                between,
                asked,
                next,
            )
        };
        let (unsigned, plain) = ("%last = call i64 @llvm.umax.i64(i64 %j, i64 %end)", "icmp ne i64 %i, %last");
        let ir = ended(unsigned, plain, "add i64 %i, 1");
        assert_eq!((shape(&ir), ir.contains("icmp ult i64"), ir.contains("call i64")), ((1, 1), true, false), "{ir}");
        let ir = ended("%last = call i64 @llvm.smax.i64(i64 3, i64 %j)", plain, "add i64 %i, 1");
        assert_eq!((shape(&ir), ir.contains("icmp slt i64") && ir.contains(", 3\n")), ((1, 1), true), "{ir}");
        for (between, asked, next) in [
            (unsigned, plain, "add i64 %i, 2"),
            (unsigned, "icmp ult i64 %i, %last", "add i64 %i, 1"),
            (unsigned, "icmp ne i64 %end, %last", "add i64 %i, 1"),
            ("%last = call i64 @llvm.umax.i64(i64 %end, i64 %end)", plain, "add i64 %i, 1"),
        ] {
            let ir = ended(between, asked, next);
            assert!(ir.contains("call i64 @llvm.umax"), "{between} {asked} {next}: {ir}");
        }
        // It goes on where it is there: behind that a number is at least the end, and not it.
        let ir = ended(unsigned, "icmp eq i64 %i, %last", "add i64 %i, 1");
        assert_eq!((shape(&ir).0, ir.contains("icmp eq i64")), (2, true), "{ir}");
    }

    /// The loops of a function: how many, and how many blocks jump back in them.
    fn shape(ir: &str) -> (usize, usize) {
        let context = Context::create();
        let module = parse_ir(&context, ir.as_bytes(), "module").unwrap();
        let loops = Graph::of(module.get_function("f").unwrap()).loops();
        (loops.len(), loops.iter().map(|found| found.latches.len()).sum())
    }

    #[test]
    fn a_loop_that_only_begins_another_is_one_with_it() {
        let ir = two("", "%j", "");
        assert_eq!(shape(&ir), (1, 1), "{ir}");
        assert!(ir.matches("phi float").count() == 2 && ir.matches("phi i64").count() == 1, "{ir}");
    }

    #[test]
    fn an_outer_head_may_compute_and_ask() {
        let computes =
            |count: usize| (0..count).map(|at| format!("%c.{at} = add i64 %end, {at}\n")).collect::<String>();
        let asks = |head: &str| {
            joined(&format!(
                "define float @f(i64 %end, ptr %p, i64 %n) {{
                entry: br label %outer
                outer: %j = phi i64 [ 0, %entry ], [ %next, %rest ]
                  %k = phi i64 [ 0, %entry ], [ %on, %rest ]
                  {head}
                inner: %i = phi i64 [ %j, %outer ], [ %next, %near ]
                  %go = icmp ult i64 %i, %end
                  br i1 %go, label %near, label %out
                near: %next = add i64 %i, 1
                  %at = getelementptr float, ptr %p, i64 %i
                  %x = load float, ptr %at
                  %far = fcmp ogt float %x, 1.0
                  br i1 %far, label %inner, label %rest
                rest: store float %x, ptr %to
                  br label %outer
                out: ret float 0.0
                }}"
            ))
        };
        const TO: &str = "%to = getelementptr float, ptr %p, i64 %k\n %on = add i64 %k, 3";
        const ASKS: &str = "%more = icmp ult i64 %k, %n\n br i1 %more, label %inner, label %out";
        for head in [format!("{TO}\n{ASKS}"), format!("{TO}\n{}\nbr label %inner", computes(6))] {
            let ir = asks(&head);
            assert_eq!((shape(&ir), ir.matches("store float").count()), ((1, 1), 1), "{ir}");
        }
        // Too much, of what may be another number each time, or of what the inner loop goes on with.
        for head in [
            format!("{TO}\n{}\nbr label %inner", computes(7)),
            format!("{TO}\n%frozen = freeze i64 %k\n{ASKS}"),
            format!("{TO}\n%loaded = load i64, ptr %p\n{ASKS}"),
            format!("{TO}\n%of.j = add i64 %j, 1\n{ASKS}"),
        ] {
            let ir = asks(&head);
            assert_eq!(shape(&ir), (2, 2), "{ir}");
        }
    }

    #[test]
    fn what_does_more_stays_two_loops() {
        // Something is done between; the inner loop begins anew each time; the outer number is looked at; threads meet.
        for (between, first, use_of_outer) in [
            ("store i64 %j, ptr %p", "%j", ""),
            ("", "0", ""),
            ("", "%j", "store i64 %j, ptr %p"),
            ("", "%j", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"),
        ] {
            let ir = two(between, first, use_of_outer);
            assert_eq!(shape(&ir), (2, 2), "{ir}");
        }
    }

    #[test]
    fn a_loop_asks_once_whether_there_is_another_round() {
        let text = |second: &str| {
            joined(&format!(
                "define float @f(ptr %p) {{
                entry: br label %outer
                outer: %j = phi i64 [ 0, %entry ], [ %next, %rest ]
                  %sum = phi float [ 0.0, %entry ], [ %more, %rest ]
                  br label %inner
                inner: %i = phi i64 [ %j, %outer ], [ %next, %far ]
                  %next = add i64 %i, 1
                  %at = getelementptr float, ptr %p, i64 %i
                  %x = load float, ptr %at
                  %is.far = fcmp ogt float %x, 1.0
                  br i1 %is.far, label %far, label %rest
                far: %last = icmp eq i64 %next, 8
                  br i1 %last, label %out, label %inner
                rest: %more = fadd float %sum, %x
                  %end = icmp eq i64 %next, {second}
                  br i1 %end, label %out, label %outer
                out: %all = phi float [ %sum, %far ], [ %more, %rest ]
                  ret float %all
                }}"
            ))
        };
        let ends = |ir: &str| (shape(ir), ir.matches("br i1").count());
        assert_eq!(ends(&text("8")), ((1, 1), 2), "{}", text("8"));
        assert_eq!(ends(&text("9")), ((1, 1), 3), "{}", text("9"));
    }

    #[test]
    fn a_block_that_jumps_back_in_several_cases_is_left_alone() {
        let ir = joined(
            "define i64 @f(i64 %end, ptr %p) {
            entry: br label %outer
            outer: %j = phi i64 [ 0, %entry ], [ %more, %rest ]
              br label %inner
            inner: %i = phi i64 [ %j, %outer ], [ %next, %near ], [ %next, %near ]
              %go = icmp ult i64 %i, %end
              br i1 %go, label %near, label %out
            near: %next = add i64 %i, 1
              %x = load i64, ptr %p
              switch i64 %x, label %rest [ i64 1, label %inner
                                           i64 2, label %inner ]
            rest: %more = add i64 %next, 1
              br label %outer
            out: ret i64 %i
            }",
        );
        assert_eq!(shape(&ir), (2, 2), "{ir}");
    }

    #[test]
    fn a_loop_has_one_jump_back_unless_something_is_said_of_it() {
        let text = |mark: &str| {
            joined(&format!(
                "define i32 @f(i1 %c, i1 %d) {{
                entry: br label %loop
                loop: %n = phi i32 [ 0, %entry ], [ %n, %loop ], [ %m, %other ]
                  br i1 %c, label %loop, label %other{mark}
                other: %m = add i32 %n, 1
                  br i1 %d, label %loop, label %end{mark}
                end: ret i32 %n
                }}
                !0 = distinct !{{!0, !1}}
                !1 = !{{!\"llvm.loop.unroll.disable\"}}"
            ))
        };
        assert_eq!(shape(&text("")), (1, 1));
        assert_eq!(shape(&text(", !llvm.loop !0")), (1, 2));
    }
}

//! Has a loop ask once whether there is another round, where several of its blocks ask the same.
//!
//! ```text
//! before: store: …                                                           ; `any = true`
//!                br i1 (icmp eq ptr %next, %behind), label %seen, label %loop
//!         none:  br i1 (icmp eq ptr %next, %behind), label %out, label %loop
//!         out:   br i1 %any, label %seen, label %end
//! after:  store: …
//!                br label %again
//!         none:  br label %again
//!         again: %is = phi i1 [ true, %store ], [ false, %none ]
//!                br i1 (icmp eq ptr %next, %behind), label %left, label %loop
//!         left:  br i1 %is, label %seen, label %out
//! ```
//!
//! What a loop remembers of whether it has found something is known where it finds it, so that LLVM threads the jump
//! from there past the question behind the loop, and asks for the loop's end on two ways. Such a loop has two ends, and
//! neither is it unrolled, nor are its checks looked at together: each round waits for its own loads. nvcc threads no
//! such jumps.
//!
//! **Why it is right.** Both blocks ask the same of the same values, and nothing is done between their answers and what
//! follows. The new block's phis are what they were on the way that was taken, and so is where the loop is left for.
//! Values that one of the blocks has and the other has not leave the loop by the phis of its own way alone, or the loop
//! stays as it is.
//!
//! Not where a loop may wait for what another thread does: threads that leave it meet before they go on.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntValue, Module, TargetMachine, Use,
};
use crate::settled;

use super::branches::is_convergent;
use super::marked::is_marked;
use super::natural::{Graph, Loop};

/// A way that does nothing more than to go on is none.
const CLEAN: &str = "simplifycfg";

/// Does so in all functions, where the two ways leave the loop for different blocks.
pub fn ask_once<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    for function in settled::open(module).filter(|function| function.count_basic_blocks() > 1) {
        let failed = |error: String| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot have a loop ask for its end once: {error}"))
        };
        if rewrite(context, function).map_err(|error| failed(error.to_string()))? {
            llvm::run_passes_on_function(function, machine, CLEAN).map_err(failed)?;
        }
    }
    Ok(())
}

/// Says whether anything is changed.
fn rewrite<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> std::result::Result<bool, BuilderError> {
    let mut is_changed = false;
    for head in Graph::of(function).loops().into_iter().filter(may_ask_twice).map(|found| found.head) {
        // Another loop may be changed by now.
        let graph = Graph::of(function);
        let Some(found) = graph.loops().into_iter().find(|found| found.head == head) else { continue };
        if let Some(twice) = Twice::of(context, &graph, &found) {
            twice.ask_once(context, &found)?;
            is_changed = true;
        }
    }
    Ok(is_changed)
}

fn may_ask_twice(found: &Loop<'_>) -> bool {
    found.latches.len() == 2
}

/// What several jumps ask alike before they go to one of the same two blocks.
pub(super) struct Question<'ctx> {
    condition: IntValue<'ctx>,
    targets: (BasicBlock<'ctx>, BasicBlock<'ctx>),
}

impl<'ctx> Question<'ctx> {
    fn of(jump: InstructionValue<'ctx>) -> Option<Self> {
        let targets = llvm::branch_targets(jump).filter(|(then, other)| then != other)?;
        Some(Self { condition: llvm::int_operand(jump, 0)?, targets })
    }

    pub fn of_all(jumps: &[InstructionValue<'ctx>]) -> Option<Self> {
        let (first, others) = jumps.split_first()?;
        let first = Self::of(*first)?;
        let is_same = |other: Self| other.targets == first.targets && are_equal(other.condition, first.condition);
        others.iter().all(|jump| Self::of(*jump).is_some_and(is_same)).then_some(first)
    }

    /// Has all of them go to `again`, which asks; the phis of the loop's head know that already.
    pub fn ask_once(
        &self,
        builder: &Builder<'ctx>,
        found: &Loop<'ctx>,
        again: BasicBlock<'ctx>,
    ) -> std::result::Result<(), BuilderError> {
        let (then, other) = self.targets;
        llvm::join_predecessors(if then == found.head { other } else { then }, &found.latches, again);
        builder.position_at_end(again);
        let condition = self.write(builder)?;
        builder.build_conditional_branch(condition, then, other)?;
        go_on_to(builder, &found.latches, again)
    }

    /// Asks once more.
    fn write(&self, builder: &Builder<'ctx>) -> std::result::Result<IntValue<'ctx>, BuilderError> {
        let compared = self.condition.as_instruction_value().and_then(|from| Some((from, from.get_icmp_predicate()?)));
        let Some((from, predicate)) = compared else { return Ok(self.condition) };
        if let (Some(left), Some(right)) = (llvm::int_operand(from, 0), llvm::int_operand(from, 1)) {
            // What one of them promises of its numbers, another may not.
            return builder.build_int_compare(predicate, left, right, "");
        }
        let operands: Vec<_> = llvm::value_operands(from).map(|(_, operand)| operand).collect();
        Ok(llvm::copy_instruction(builder, from, &operands).into_int_value())
    }
}

/// Has blocks that ask something go to another one and nowhere else.
fn go_on_to<'ctx>(
    builder: &Builder<'ctx>,
    blocks: &[BasicBlock<'ctx>],
    next: BasicBlock<'ctx>,
) -> std::result::Result<(), BuilderError> {
    for block in blocks {
        let Some(end) = block.get_terminator() else { continue };
        let asked = llvm::int_operand(end, 0).and_then(|condition| condition.as_instruction_value());
        end.erase_from_basic_block();
        if let Some(asked) = asked.filter(|asked| llvm::is_pure(*asked) && llvm::uses(asked).is_empty()) {
            asked.erase_from_basic_block();
        }
        builder.position_at_end(*block);
        builder.build_unconditional_branch(next)?;
    }
    Ok(())
}

/// Whether two conditions are one, or compare the same values.
fn are_equal<'ctx>(one: IntValue<'ctx>, other: IntValue<'ctx>) -> bool {
    let compared = |value: IntValue<'ctx>| {
        let from = value.as_instruction_value()?;
        Some((from.get_icmp_predicate()?, llvm::value_operands(from).map(|(_, operand)| operand).collect::<Vec<_>>()))
    };
    one == other || compared(one).is_some_and(|one| compared(other) == Some(one))
}

/// Whether an instruction may look at what another thread does, or is one that threads do together.
fn may_wait(instruction: InstructionValue<'_>) -> bool {
    match instruction.get_opcode() {
        Op::Load => !llvm::is_plain_load(instruction),
        Op::AtomicRMW | Op::AtomicCmpXchg => !llvm::uses(&instruction).is_empty(),
        Op::Fence => true,
        _ => is_convergent(instruction),
    }
}

/// Two jumps back that ask the same, and leave the loop for two blocks.
struct Twice<'ctx> {
    question: Question<'ctx>,
    /// The block of each, and where it leaves the loop for.
    ways: [(BasicBlock<'ctx>, BasicBlock<'ctx>); 2],
}

impl<'ctx> Twice<'ctx> {
    fn of(context: &Context, graph: &Graph<'ctx>, found: &Loop<'ctx>) -> Option<Self> {
        let &[one, other] = &found.latches[..] else { return None };
        let jumps = found.jumps_back();
        let question = Question::of(one.get_terminator()?)?;
        let second = Question::of(other.get_terminator()?)?;
        let goes_on = question.targets.0 == found.head;
        let out = |question: &Question<'ctx>| if goes_on { question.targets.1 } else { question.targets.0 };
        let ways = [(one, out(&question)), (other, out(&second))];
        let is_same = are_equal(question.condition, second.condition) && (second.targets.0 == found.head) == goes_on;
        let is_left = ways.iter().all(|(_, to)| !found.contains(*to)) && ways[0].1 != ways[1].1;
        let is_shared = found.blocks.iter().flat_map(|block| block.get_instructions()).any(may_wait);
        let is_one = is_same && is_left && !is_shared && !is_marked(context, &jumps);
        (is_one && [(one, other), (other, one)].iter().all(|pair| leave_by_phis(graph, found, *pair)))
            .then_some(Self { question, ways })
    }

    fn ask_once(&self, context: &'ctx Context, found: &Loop<'ctx>) -> std::result::Result<(), BuilderError> {
        let builder = context.create_builder();
        llvm::forget_loop(context, &found.jumps_back());
        let [again, left] = [(); 2].map(|()| context.insert_basic_block_after(found.latches[1], ""));
        llvm::join_predecessors(found.head, &found.latches, again);
        for (at, (block, out)) in self.ways.iter().enumerate() {
            let other = self.ways[1 - at].0;
            let mut told = Vec::new();
            builder.position_at_end(again);
            for phi in llvm::phis(*out) {
                let Some(value) = llvm::incoming_from(phi, *block) else { continue };
                let joined = builder.build_phi(value.get_type(), "")?;
                joined.add_incoming(&[(&value, *block), (&llvm::poison(value.get_type()), other)]);
                told.push(joined.as_basic_value());
            }
            let mut told = told.into_iter();
            llvm::replace_predecessor(*out, *block, left, |old| told.next().unwrap_or(old));
        }
        builder.position_at_end(again);
        let [yes, no] = [1, 0].map(|is| context.bool_type().const_int(is, false));
        let is_first = builder.build_phi(context.bool_type(), "")?;
        is_first.add_incoming(&[(&yes, self.ways[0].0), (&no, self.ways[1].0)]);
        let condition = self.question.write(&builder)?;
        let (then, other) = self.question.targets;
        let [then, other] = [then, other].map(|to| if to == found.head { to } else { left });
        builder.build_conditional_branch(condition, then, other)?;
        builder.position_at_end(left);
        let [(_, first), (_, second)] = self.ways;
        builder.build_conditional_branch(is_first.as_basic_value().into_int_value(), first, second)?;
        go_on_to(&builder, &found.latches, again)
    }
}

/// Whether what is computed on all ways to one block, but not on all to the other, is known outside of the loop by phis
/// alone.
fn leave_by_phis<'ctx>(
    graph: &Graph<'ctx>,
    found: &Loop<'ctx>,
    (block, other): (BasicBlock<'ctx>, BasicBlock<'ctx>),
) -> bool {
    let is_alone =
        |at: &&BasicBlock<'ctx>| graph.is_reached_by_way_of(block, **at) && !graph.is_reached_by_way_of(other, **at);
    let is_of_loop = |at: Option<BasicBlock<'ctx>>| at.is_some_and(|at| found.contains(at));
    let is_known = |from: InstructionValue<'ctx>| {
        let stays = |user: Use<'ctx>| {
            let Use::Instruction(user) = user else { return false };
            is_of_loop(user.get_parent())
                || user.get_opcode() == Op::Phi
                    && llvm::incoming(user)
                        .into_iter()
                        .all(|(value, at)| llvm::instruction_of(value) != Some(from) || is_of_loop(Some(at)))
        };
        llvm::uses(&from).into_iter().all(stays)
    };
    found.blocks.iter().filter(is_alone).flat_map(|at| at.get_instructions()).all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::staged::after;

    /// Parts of a loop that remembers whether it has stored something.
    #[derive(Clone, Copy)]
    struct Parts<'a> {
        /// What is done where nothing is stored, and what is asked there.
        none: &'a str,
        ends: &'a str,
        /// What was said of the loop.
        mark: &'a str,
        /// What is looked at behind the loop.
        out: &'a str,
    }

    const PARTS: Parts<'_> = Parts { none: "", ends: "icmp eq ptr %next, %behind", mark: "", out: "i1 %any" };

    fn asked(Parts { none, ends, mark, out }: Parts<'_>) -> String {
        let text = format!(
            "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            define void @f(ptr %from, ptr %behind, ptr %to, ptr %seen) {{
            entry: br label %loop
            loop: %p = phi ptr [ %from, %entry ], [ %next, %none ], [ %next, %store ]
              %any = phi i1 [ false, %entry ], [ %any, %none ], [ true, %store ]
              %next = getelementptr i8, ptr %p, i64 4
              %x = load i32, ptr %p
              %is = icmp eq i32 %x, -1
              br i1 %is, label %store, label %none
            store: store i32 1, ptr %to
              %last.store = icmp eq ptr %next, %behind
              br i1 %last.store, label %found, label %loop
            none: {none}
              %last.none = {ends}
              br i1 %last.none, label %out, label %loop{mark}
            out: br {out}, label %found, label %end
            found: %what = phi i32 [ %x, %store ], [ 7, %out ]
              store i32 %what, ptr %seen
              br label %end
            end: ret void
            }}
            !0 = distinct !{{!0, !1}}
            !1 = !{{!\"llvm.loop.unroll.disable\"}}"
        );
        after(&text, |context, module, machine| ask_once(context, module, machine).unwrap())
    }

    fn questions(ir: &str) -> usize {
        ir.matches("icmp eq ptr").count()
    }

    #[test]
    fn a_loop_that_remembers_what_it_found_has_one_end() {
        let ir = asked(PARTS);
        assert_eq!((questions(&ir), ir.matches("phi i1").count()), (1, 3), "{ir}");
        // The way on which nothing is done is a jump.
        assert!(
            ir.contains("[ false, %loop ], [ true, %store ]") || ir.contains("[ true, %store ], [ false, %loop ]"),
            "{ir}"
        );
        assert!(ir.contains("[ %x, %store ]") && ir.contains("[ poison, %loop ]"), "{ir}");
    }

    #[test]
    fn other_loops_stay_as_they_are() {
        let barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
        let lock = "%held = load atomic i32, ptr %to syncscope(\"device\") acquire, align 4";
        // Another question; threads meet, or wait for each other; something was said of the loop.
        for parts in [
            Parts { none: lock, ..PARTS },
            Parts { ends: "icmp eq ptr %next, %from", ..PARTS },
            Parts { ends: "icmp ne ptr %next, %behind", ..PARTS },
            Parts { none: barrier, ..PARTS },
            Parts { mark: ", !llvm.loop !0", ..PARTS },
        ] {
            let ir = asked(parts);
            assert_eq!(ir.matches("icmp").count(), 3, "{ir}");
        }
    }

    #[test]
    fn what_is_known_behind_one_way_without_a_phi_stays_there() {
        let ir = asked(Parts { none: "%many = icmp ugt i32 %x, 9", out: "i1 %many", ..PARTS });
        assert_eq!(questions(&ir), 2, "{ir}");
    }

    #[test]
    fn a_comparison_is_written_without_what_only_one_promises() {
        let text = "define void @f(i64 %n, ptr %to) {
            entry: br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %none ], [ %next, %store ]
              %any = phi i1 [ false, %entry ], [ %any, %none ], [ true, %store ]
              %next = add nuw i64 %k, 1
              %p = getelementptr i32, ptr %to, i64 %k
              %x = load i32, ptr %p
              %is = icmp eq i32 %x, -1
              br i1 %is, label %store, label %none
            store: store i32 1, ptr %p
              %last.store = icmp samesign ult i64 %next, %n
              br i1 %last.store, label %loop, label %found
            none: %last.none = icmp ult i64 %next, %n
              br i1 %last.none, label %loop, label %out
            out: br i1 %any, label %found, label %end
            found: store i32 7, ptr %to
              br label %end
            end: ret void
            }";
        let ir = after(text, |context, module, machine| ask_once(context, module, machine).unwrap());
        assert_eq!((ir.matches("ult i64").count(), ir.contains("samesign")), (1, false), "{ir}");
    }
}

//! Has loops unrolled whose rounds index a local array or walk a constant table: with constant indices the array becomes
//! registers, and the table's numbers become part of the code.
//!
//! ```text
//! before: %schedule = alloca [64 x i32]
//!         loop: %at = getelementptr [4 x i8], ptr %schedule, i64 %round      ; ld.local, st.local in every round
//!               br i1 %more, label %loop, label %end
//! after:        br i1 %more, label %loop, label %end, !llvm.loop !{…, !"llvm.loop.unroll.full"}
//! ```
//!
//! LLVM unrolls loops by the size of their bodies, and does not count what an array in local memory costs a GPU: a load from
//! memory in place of a register. It unrolls what is marked so only if the number of rounds is a constant, and up to 16,384
//! instructions. Where it is at most a constant, as in `for i in 0..=step` of a triangle of 64 steps, LLVM is asked to write as
//! many rounds as there are at most, each behind a branch.
//!
//! So are the rounds of a hash, which take one of several formulas by their number (`match i >> 4 { … }`), or find a word by
//! it (`key[sum & 3]`): with the numbers, branches go, and words that several rounds read are loaded once. And so are loops in
//! each other, the inner ones of which run as often as the outer one has counted (`for j in 0..=i`): LLVM unrolls from within,
//! where the number of rounds does not show yet. Neither where that would be long: it would not stay in the cache of
//! instructions, and the 24 rounds of Keccak, 200 instructions each, took 8 % longer than their loop.
//!
//! Where a loop ends in a branch that not every round comes to, as `for x in FIRST.into_iter().chain(SECOND)` does once it is in
//! the second array, LLVM does not count its rounds. It is asked to write as many as were gone through, each of which may be the
//! last; what the loop counts is a number in each of them, and the jump back of the last one is never taken.
//!
//! **Why it is right.** Marks change how often a body stands in a loop, never what it does. A loop that counts from 0 to the
//! smaller of a number and 3, which is not 0, ends before its count is more than 3.

use std::collections::HashSet;

use crate::llvm::{
    self, BasicBlock, BasicValue, BasicValueEnum, Context, FunctionValue, InstructionOpcode, InstructionValue,
    IntPredicate, IntValue, Module, Unroll, Use,
};
use crate::settled;

use super::branches::is_quiet;
use super::natural::{Graph, Loop};
use super::rounds::{Rounds, Walk};

/// Bytes of arrays that can become registers, of which a thread has 255 of 4 bytes, as may all arrays of an iterator together.
const MOST_BYTES: u64 = 1020;

/// Bytes of tables that may become part of the code.
const MOST_OF_A_TABLE: u64 = 2048;

/// Instructions that are left of a loop by a table.
const MOST_OF_A_WALK: u64 = 2048;

/// Instructions that are left of a loop that only reads an array: some 70 KiB of machine code.
const MOST_OF_READS: u64 = 7168;

/// Instructions that are left of rounds with branches or places by their number.
const MOST_OF_ROUNDS: u64 = 1024;

/// Instructions that are left of loops in each other.
const MOST_OF_A_NEST: u64 = 1536;

/// The same where they write an array: most of these are its loads and stores, and then none of them is left.
const MOST_OF_A_WRITTEN_NEST: u64 = 32_768;

/// Instructions of a round of which there are at most so many.
const MOST_OF_A_ROUND: usize = 40;

/// Rounds that a loop has at most where it has as many as the smaller of two numbers.
const MOST_OF_A_BOUND: u64 = 64;

/// Branches above a loop that are looked at.
const MOST_ABOVE: usize = 8;

/// Marks loops for unrolling, and says which functions have any.
pub fn unroll<'ctx>(context: &Context, module: &Module<'ctx>) -> HashSet<FunctionValue<'ctx>> {
    let mut marked = HashSet::new();
    for function in settled::open_and_fast(module) {
        let blocks = indexed_in(function);
        let graph = Graph::of(function);
        let loops = graph.loops();
        let is_disabled = |found: &Loop<'ctx>| llvm::unroll_was_disabled(context, &found.jumps_back());
        let indexes = |found: &Loop<'ctx>| blocks.iter().any(|(block, _)| found.contains(*block));
        let writes = |found: &Loop<'ctx>| blocks.iter().any(|(block, writes)| *writes && found.contains(*block));
        let mut walk = Walk::new(function, &loops);
        let mut whole: HashSet<BasicBlock<'ctx>> = HashSet::new();
        // The outer ones first.
        let mut nests: Vec<_> = loops.iter().filter(|found| indexes(found)).collect();
        nests.sort_by_key(|found| std::cmp::Reverse(found.blocks.len()));
        for nest in nests {
            let all: Vec<_> = loops.iter().filter(|inner| nest.contains(inner.head)).collect();
            let is_nest = all.len() > 1 && !whole.contains(&nest.head) && !all.iter().any(|found| is_disabled(found));
            let most = if writes(nest) { MOST_OF_A_WRITTEN_NEST } else { MOST_OF_A_NEST };
            if is_nest && walk.of(nest).is_some_and(|rounds| rounds.instructions <= most) {
                whole.extend(all.iter().map(|found| found.head));
            }
        }
        for found in &loops {
            let jumps = found.jumps_back();
            let is_inner = loops.iter().all(|other| other.head == found.head || !found.contains(other.head));
            let of = |rounds: Rounds| match rounds.count {
                count if !is_counted(&graph, found) => Unroll::By(count),
                // LLVM did not do it the last time.
                _ if llvm::is_to_be_unrolled(context, &jumps) => Unroll::Full,
                _ => Unroll::Whole,
            };
            let mut rounds = || walk.of(found);
            let unroll = if whole.contains(&found.head) {
                if llvm::is_to_be_unrolled(context, &jumps) { Unroll::Full } else { Unroll::Whole }
            } else if !is_inner {
                continue;
            } else if indexes(found) {
                match rounds() {
                    // An array that is only read is a table, in memory near by.
                    Some(rounds) if rounds.instructions > MOST_OF_READS && !writes(found) => continue,
                    Some(rounds) => of(rounds),
                    None if is_bounded(found) => Unroll::Bounded,
                    None => Unroll::Full,
                }
            } else if walks_table(found) {
                match rounds() {
                    Some(rounds) if rounds.instructions > MOST_OF_A_WALK => continue,
                    Some(rounds) => of(rounds),
                    None => Unroll::Full,
                }
            } else if !llvm::has_loop_mark(context, &jumps)
                && let Some(rounds) = rounds()
                && rounds.decided + rounds.found > 0
                && rounds.instructions <= MOST_OF_ROUNDS
            {
                of(rounds)
            } else {
                continue;
            };
            if !is_disabled(found) {
                llvm::set_unroll(context, &jumps, unroll);
                marked.insert(function);
            }
        }
    }
    marked
}

/// Whether every round comes to a branch that may end the loop, other than by a panic: LLVM counts no other rounds.
fn is_counted<'ctx>(graph: &Graph<'ctx>, found: &Loop<'ctx>) -> bool {
    let panics = |block: &BasicBlock<'ctx>| {
        block.get_terminator().is_some_and(|end| end.get_opcode() == InstructionOpcode::Unreachable)
    };
    let may_end = |block: &BasicBlock<'ctx>| {
        let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        targets.iter().any(|to| !found.contains(*to) && !panics(to))
    };
    let is_passed =
        |block: BasicBlock<'ctx>| found.latches.iter().all(|latch| graph.is_reached_by_way_of(*latch, block));
    found.blocks.iter().any(|block| may_end(block) && is_passed(*block))
}

/// Whether a loop is one block that ends by what it counts, so that each of its rounds may be the last; or several in a row, of
/// which each but the last may panic.
fn is_bounded(found: &Loop<'_>) -> bool {
    let [latch] = found.latches[..] else { return false };
    let calls = |from: InstructionValue<'_>| from.get_opcode() == InstructionOpcode::Call && !is_quiet(from);
    let instructions = || found.blocks.iter().flat_map(|block| block.get_instructions());
    let goes_or_panics = |block: &BasicBlock<'_>| {
        let targets = block.get_terminator().map(llvm::block_operands).unwrap_or_default();
        targets.iter().filter(|to| found.contains(**to)).count() == 1
    };
    found.blocks.iter().filter(|block| **block != latch).all(goes_or_panics)
        && instructions().count() <= MOST_OF_A_ROUND
        && !instructions().any(calls)
}

/// Tells LLVM of loops that are to be written as often as they run at most how often that is, right before it does: what
/// comes before would ask for the number of rounds alone.
pub fn bound(context: &Context, module: &Module<'_>) {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1) {
        let graph = Graph::of(function);
        let is_marked = |found: &Loop<'_>| llvm::is_bounded(context, &found.jumps_back());
        graph.innermost().iter().filter(|found| is_marked(found)).for_each(|found| say_most(context, &graph, found));
    }
}

/// Has a loop that runs `min(x, 3)` rounds end after three of them at the latest, where it is known to be no
/// other: LLVM does not see it where `x` is computed, as the number of a slice's chunks, because it could be 0.
fn say_most<'ctx>(context: &Context, graph: &Graph<'ctx>, found: &Loop<'ctx>) {
    let [latch] = found.latches[..] else { return };
    let Some((end, compare)) =
        latch.get_terminator().and_then(|end| Some((end, llvm::int_operand(end, 0)?.as_instruction_value()?)))
    else {
        return;
    };
    let Some((then, other)) = llvm::branch_targets(end) else { return };
    let is_equal = match compare.get_icmp_predicate() {
        Some(IntPredicate::EQ) if other == found.head && !found.contains(then) => true,
        Some(IntPredicate::NE) if then == found.head && !found.contains(other) => false,
        _ => return,
    };
    let [Some(one), Some(other)] = [llvm::int_operand(compare, 0), llvm::int_operand(compare, 1)] else { return };
    let counted = [(one, other), (other, one)].into_iter().find_map(|(next, rounds)| {
        let (x, most) = smaller(rounds)?;
        let step = next.as_instruction_value().filter(|step| step.get_opcode() == InstructionOpcode::Add)?;
        let (first, goes_on) = found.incoming(llvm::int_operand(step, 0)?)?;
        let counts = goes_on == BasicValueEnum::from(next)
            && llvm::int_operand(step, 1)?.get_zero_extended_constant() == Some(1)
            && matches!(first, BasicValueEnum::IntValue(first) if first.get_zero_extended_constant() == Some(0));
        (counts && is_shown_not_0(graph, found.head, &[x, rounds])).then_some((next, most))
    });
    let Some((next, most)) = counted else { return };
    let builder = context.create_builder();
    builder.position_before(&end);
    let predicate = if is_equal { IntPredicate::EQ } else { IntPredicate::NE };
    let condition = llvm::result(compare).into_int_value();
    let last = builder.build_int_compare(predicate, next, most, "");
    let both = last.and_then(|last| {
        if is_equal { builder.build_or(condition, last, "") } else { builder.build_and(condition, last, "") }
    });
    llvm::set_condition(end, both.expect("the builder has a place"));
}

/// The number of which a value is the smaller one with a constant, and that.
fn smaller(value: IntValue<'_>) -> Option<(IntValue<'_>, IntValue<'_>)> {
    let min = value.as_instruction_value().filter(|min| llvm::calls(*min, &["llvm.umin."]))?;
    let most = llvm::int_operand(min, 1)?;
    (1..=MOST_OF_A_BOUND).contains(&most.get_zero_extended_constant()?).then_some((llvm::int_operand(min, 0)?, most))
}

/// Whether a branch on every way to a block has shown one of these not to be 0.
fn is_shown_not_0<'ctx>(graph: &Graph<'ctx>, block: BasicBlock<'ctx>, values: &[IntValue<'ctx>]) -> bool {
    let above = std::iter::successors(graph.dominator(block), |at| graph.dominator(*at)).take(MOST_ABOVE);
    above.into_iter().any(|from| {
        let end = from.get_terminator();
        let Some((end, (then, other))) = end.and_then(|end| Some((end, llvm::branch_targets(end)?))) else {
            return false;
        };
        let Some(compare) = llvm::int_operand(end, 0).and_then(|condition| condition.as_instruction_value()) else {
            return false;
        };
        let way = match compare.get_icmp_predicate() {
            Some(IntPredicate::EQ) => other,
            Some(IntPredicate::NE) => then,
            _ => return false,
        };
        let is_zero = llvm::int_operand(compare, 1).and_then(|right| right.get_zero_extended_constant()) == Some(0);
        is_zero
            && llvm::int_operand(compare, 0).is_some_and(|left| values.contains(&left))
            && llvm::predecessors(way) == [from]
            && graph.is_reached_by_way_of(block, way)
    })
}

/// Whether each round of a loop takes the next element of a small constant table: what it finds there are constants too.
fn walks_table(found: &Loop<'_>) -> bool {
    let is_table = |pointer| {
        llvm::global_of(pointer).is_some_and(|global| {
            global.is_constant() && llvm::static_bytes(global).is_some_and(|size| size <= MOST_OF_A_TABLE)
        })
    };
    let phis: Vec<_> =
        found.head.get_instructions().take_while(|phi| phi.get_opcode() == InstructionOpcode::Phi).collect();
    let by_pointer = phis.iter().flat_map(|phi| llvm::incoming(*phi)).any(|(value, block)| match value {
        BasicValueEnum::PointerValue(pointer) => !found.contains(block) && is_table(pointer),
        _ => false,
    });
    by_pointer
        || phis.iter().flat_map(|phi| llvm::uses(&llvm::result(*phi))).any(|user| match user {
            Use::Instruction(user) if user.get_opcode() == InstructionOpcode::GetElementPtr => {
                matches!(user.get_operand(0).and_then(|base| base.value()), Some(BasicValueEnum::PointerValue(base)) if is_table(base))
            }
            _ => false,
        })
}

/// The blocks in which small local arrays are indexed by what is not a constant.
pub fn that_index_arrays<'ctx>(function: FunctionValue<'ctx>) -> Vec<BasicBlock<'ctx>> {
    indexed_in(function).into_iter().map(|(block, _)| block).collect()
}

/// Where small local arrays are indexed by what is not a constant, and whether what is found there may be written.
fn indexed_in<'ctx>(function: FunctionValue<'ctx>) -> Vec<(BasicBlock<'ctx>, bool)> {
    let arrays = llvm::instructions(function).filter(|instruction| {
        let size = || llvm::allocated_bytes(*instruction);
        instruction.get_opcode() == InstructionOpcode::Alloca
            && size().is_some_and(|size| (8..=MOST_BYTES).contains(&size))
    });
    let mut blocks = Vec::new();
    for array in arrays {
        let mut pending = vec![array];
        while let Some(address) = pending.pop() {
            for user in llvm::uses(&llvm::result(address)) {
                let Use::Instruction(user) = user else { continue };
                if user.get_opcode() == InstructionOpcode::GetElementPtr {
                    if is_indexed(user) {
                        blocks.extend(user.get_parent().map(|block| (block, !is_only_read(user))));
                    }
                    pending.push(user);
                }
            }
        }
    }
    blocks
}

/// Whether an address is only loaded from.
fn is_only_read(address: InstructionValue<'_>) -> bool {
    llvm::uses(&llvm::result(address))
        .iter()
        .all(|user| matches!(user, Use::Instruction(user) if user.get_opcode() == InstructionOpcode::Load))
}

fn is_indexed(gep: InstructionValue<'_>) -> bool {
    (1..gep.get_num_operands()).any(|index| {
        gep.get_operand(index)
            .and_then(|operand| operand.value())
            .is_some_and(|operand| matches!(operand, BasicValueEnum::IntValue(index) if !index.is_const()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    /// How many loops of a function are marked, each in its own way: all rounds, at most so many, and those that LLVM counts.
    fn marks(text: &str) -> [usize; 3] {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        unroll(&context, &module);
        module.verify().unwrap();
        let function = module.get_function("f").unwrap();
        let mut marks = [0; 3];
        for found in Graph::of(function).loops() {
            let jumps = found.jumps_back();
            let whole = llvm::is_to_be_unrolled(&context, &jumps);
            let bounded = llvm::is_bounded(&context, &jumps);
            let any = llvm::has_loop_mark(&context, &jumps);
            marks.iter_mut().zip([whole, bounded, any && !whole && !bounded]).for_each(|(n, is)| *n += usize::from(is));
        }
        marks
    }

    #[test]
    fn rounds_that_take_the_larger_of_two_floats_are_few_instructions() {
        let text = TRIANGLE
            .replace("%more, 8", "%more, %n")
            .replace("%z = fmul float %y, %x", "%z = call float @llvm.maximumnum.f32(float %y, float %x)");
        assert_eq!(marks(&format!("declare float @llvm.maximumnum.f32(float, float)\n{text}")), [0, 1, 0]);
    }

    #[test]
    fn what_is_at_most_three_ends_after_three() {
        let text = "declare i64 @llvm.umin.i64(i64, i64)
        define void @f(ptr %to, i64 %n, i32 %x) {
            entry: %a = alloca [3 x i32]
              %rounds = call i64 @llvm.umin.i64(i64 %n, i64 3)
              %none = icmp eq i64 %n, 0
              br i1 %none, label %end, label %before
            before: br label %loop
            loop: %i = phi i64 [ 0, %before ], [ %next, %loop ]
              %at = getelementptr i32, ptr %a, i64 %i
              %w = load i32, ptr %at
              store i32 %w, ptr %to
              %next = add i64 %i, 1
              %last = icmp eq i64 %next, %rounds
              br i1 %last, label %end, label %loop
            end: ret void
        }";
        let told = |text: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            llvm::set_target(&module);
            unroll(&context, &module);
            bound(&context, &module);
            module.verify().unwrap();
            module.print_to_string().to_string().contains("icmp eq i64 %next, 3")
        };
        assert!(told(text));
        // Not where it may be none, counts from 1, or goes on where it is as many.
        assert!(!told(&text.replace("icmp eq i64 %n, 0", "icmp eq i64 %n, 7")));
        assert!(!told(&text.replace("phi i64 [ 0, %before ]", "phi i64 [ 1, %before ]")));
        assert!(!told(&text.replace("br i1 %last, label %end, label %loop", "br i1 %last, label %loop, label %end")));
    }

    /// A triangle of loops on an array of eight.
    const TRIANGLE: &str = "define float @f(float %x, i64 %n) {
        entry: %a = alloca [8 x float]
          br label %outer
        outer: %i = phi i64 [ 0, %entry ], [ %more, %latch ]
          br label %inner
        inner: %j = phi i64 [ 0, %outer ], [ %next, %inner ]
          %at = getelementptr float, ptr %a, i64 %j
          %y = load float, ptr %at
          %z = fmul float %y, %x
          store float %z, ptr %at
          %next = add i64 %j, 1
          %last = icmp uge i64 %j, %i
          br i1 %last, label %latch, label %inner
        latch: %more = add i64 %i, 1
          %again = icmp ult i64 %more, 8
          br i1 %again, label %outer, label %end
        end: %r = load float, ptr %a
          ret float %r
    }";

    #[test]
    fn a_triangle_on_an_array_is_unrolled_from_without() {
        assert_eq!(marks(TRIANGLE), [2, 0, 0]);
        // Where the outer loop is not counted, or too long, the inner one has eight rounds at most, as LLVM may see.
        assert_eq!(marks(&TRIANGLE.replace("%more, 8", "%more, %n")), [0, 1, 0]);
        assert_eq!(marks(&TRIANGLE.replace("%more, 8", "%more, 128")), [0, 1, 0]);
        // Nor do checks make more of it.
        let checked = TRIANGLE
            .replace("%more, 8", "%more, %n")
            .replace("[ %next, %inner ]", "[ %next, %second ]")
            .replace(
                "%z = fmul",
                "%small = fcmp olt float %y, 1.0
                  br i1 %small, label %first, label %fail
                first: %large = fcmp ogt float %y, 0.0
                  br i1 %large, label %second, label %fail
                second: %z = fmul",
            )
            .replace("ret float %r", "ret float %r\nfail: unreachable");
        assert_eq!(marks(&checked), [0, 1, 0]);
        // What calls is too much for so many copies.
        let calls = TRIANGLE.replace("%z = fmul", "call void @g()\n %z = fmul").replace("%more, 8", "%more, %n");
        assert_eq!(marks(&format!("declare void @g()\n{calls}")), [0, 0, 1]);
    }

    /// Rounds that load from a table, and do so much in each.
    fn walk(products: usize) -> String {
        let step = |text: String, at: usize| text + &format!("%s{} = mul i32 %s{at}, %x\n", at + 1);
        let body = (0..products).fold("%s0 = add i32 %s, %w\n".to_string(), step);
        format!(
            "@table = constant [64 x i32] zeroinitializer
            define i32 @f(i32 %x) {{
            entry: br label %loop
            loop: %i = phi i64 [ 0, %entry ], [ %next, %loop ]
              %s = phi i32 [ 0, %entry ], [ %s{products}, %loop ]
              %at = getelementptr i32, ptr @table, i64 %i
              %w = load i32, ptr %at
              {body}
              %next = add i64 %i, 1
              %more = icmp ult i64 %next, 64
              br i1 %more, label %loop, label %end
            end: ret i32 %s{products}
            }}"
        )
    }

    #[test]
    fn a_loop_that_not_every_round_may_end_is_written_as_often_as_it_runs() {
        // Four elements of one array and four of another, as `first.into_iter().chain(second)` goes through them.
        let text = "define i32 @f(ptr %p, i32 %x) {
            entry: %a = alloca [4 x i32]
              %b = alloca [4 x i32]
              br label %loop
            loop: %i = phi i64 [ 0, %entry ], [ %i.next, %both ]
              %j = phi i64 [ 0, %entry ], [ %j.next, %both ]
              %is = phi i1 [ true, %entry ], [ %goes, %both ]
              %left = icmp ne i64 %i, 4
              %goes = select i1 %is, i1 %left, i1 false
              br i1 %goes, label %first, label %second
            first: %i.more = add i64 %i, 1
              %at = getelementptr i32, ptr %a, i64 %i
              br label %both
            second: %last = icmp eq i64 %j, 4
              br i1 %last, label %end, label %rest
            rest: %j.more = add i64 %j, 1
              %there = getelementptr i32, ptr %b, i64 %j
              br label %both
            both: %q = phi ptr [ %at, %first ], [ %there, %rest ]
              %i.next = phi i64 [ %i.more, %first ], [ %i, %rest ]
              %j.next = phi i64 [ %j, %first ], [ %j.more, %rest ]
              store i32 %x, ptr %q
              br label %loop
            end: ret i32 %x
        }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        unroll(&context, &module);
        let ir = module.print_to_string().to_string();
        assert!(ir.contains("\"llvm.loop.unroll.count\", i32 9"), "{ir}");
        // One that each round may end is left to LLVM, which counts its rounds.
        let counted = text.replace("br i1 %last, label %end, label %rest", "br label %rest");
        let counted =
            counted.replace("br i1 %goes, label %first, label %second", "br i1 %goes, label %first, label %end");
        let counted = counted.replace("second: %last", "second: %never = icmp eq i64 0, 0\n%last");
        assert_eq!(marks(&counted), [1, 0, 0]);
    }

    #[test]
    fn a_long_walk_of_a_table_stays_a_loop() {
        assert_eq!(marks(&walk(10)), [1, 0, 0]);
        assert_eq!(marks(&walk(100)), [0, 0, 0]);
    }

    #[test]
    fn rounds_that_find_words_by_their_number_are_unrolled() {
        let text = "define i32 @f(ptr %p, i32 %x) {
            entry: br label %loop
            loop: %sum = phi i32 [ 0, %entry ], [ %next, %loop ]
              %s = phi i32 [ %x, %entry ], [ %t, %loop ]
              %k = and i32 %sum, 3
              %at = getelementptr i32, ptr %p, i32 %k
              %w = load i32, ptr %at
              %t = xor i32 %s, %w
              %next = add i32 %sum, 5
              %more = icmp ne i32 %next, 160
              br i1 %more, label %loop, label %end
            end: ret i32 %t
        }";
        assert_eq!(marks(text), [1, 0, 0]);
        // By what all loops count, or for as long as somebody says.
        assert_eq!(marks(&text.replace("i32 %k\n", "i32 %sum\n")), [0, 0, 0]);
        assert_eq!(marks(&text.replace("%next, 160", "%next, %x")), [0, 0, 0]);
    }
}

//! Asks at a kernel's start on one branch what most threads answer alike.
//!
//! ```text
//! before: entry: br i1 %launched, label %own, label %panic              ; the block has the size that the kernel wants
//!         own:   %fits = icmp ult i64 (%width * %height - 1), %len
//!                br i1 %fits, label %small, label %rest                 ; two copies
//! after:  entry: %fits = icmp ult i64 (%width * %height - 1), %len
//!                br i1 (select i1 %launched, i1 %fits, i1 false), label %small, label %own
//!         own:   br i1 %launched, label %rest, label %panic
//! ```
//!
//! A kernel asks several things at its start: whether it was launched as it wants, whether the thread has an element, whether
//! that is one at the edge, and whether its neighbours are in the slice. Each answer was waited for, and then the length that
//! the next one needs was read. In a kernel without loops the first three of such branches are decided at once, on the way that
//! most threads go: where more is loaded. It ends where something is loaded.
//!
//! If the first is a check and the second is one of the whole block, they are one branch. ptxas moves nothing across a branch:
//! what is read and computed between them, such as where a block's tile lies, would be waited for before the loads.
//!
//! **Why it is right.** A position, and arithmetic of numbers that are known before, is the same wherever it is computed, and
//! computing it has no effect. What means nothing where the first check fails is not looked at there, because the choice does
//! not look at it. What the second block takes for granted is no longer said.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::extended;
use super::moved::{self, Early};
use crate::llvm::{
    self, AnyTypeEnum, BasicBlock, BasicValueEnum, BuilderError, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntValue,
};
use crate::loops::Graph;

/// Branches in turn at a function's start.
const MOST_BRANCHES: usize = 3;

/// Values that a condition is computed of.
const MOST_STEPS: usize = 24;

/// What a function's first branches ask for before anything is loaded, and what that is computed of, in order.
pub fn asked<'ctx>(kernel: FunctionValue<'ctx>) -> Vec<InstructionValue<'ctx>> {
    let Some(entry) = kernel.get_first_basic_block() else { return Vec::new() };
    let (graph, slow) = (Graph::of(kernel), slow(kernel));
    let early = Early { graph: &graph, before: entry, late: HashSet::new() };
    let mut found: Vec<InstructionValue<'ctx>> = Vec::new();
    let mut pending = vec![(entry, 0)];
    while let Some((block, depth)) = pending.pop() {
        let Some(end) = block.get_terminator() else { continue };
        let targets = llvm::block_operands(end);
        if block != entry && targets.len() == 2 {
            early.add(moved::condition(block), &mut found);
        }
        if depth < MOST_BRANCHES && block.get_instructions().all(is_quiet) {
            let targets = targets.into_iter().filter(|target| !slow.contains(target));
            let ways: Vec<_> = targets.map(|target| Way::of(kernel, &graph, &slow, target)).collect();
            let next = usual(&ways).filter(|target| llvm::predecessors(*target) == [block]);
            pending.extend(next.map(|target| (target, depth + 1)));
        }
    }
    found
}

/// Whether an instruction neither loads nor stores, nor does anything else but compute, tell LLVM of numbers, or jump.
fn is_quiet(from: InstructionValue<'_>) -> bool {
    can_move(from) || is_told(from) || from.is_terminator()
}

fn can_move(from: InstructionValue<'_>) -> bool {
    moved::is_fixed(from) || llvm::reads_position(from) || moved::is_kept(from)
}

/// Whether an instruction only says something to LLVM.
fn is_told(from: InstructionValue<'_>) -> bool {
    llvm::called_function(from).is_some_and(|callee| {
        let name = callee.get_name().to_string_lossy();
        name == "llvm.assume" || name.starts_with("llvm.experimental.noalias")
    })
}

/// A function's first two branches, of which the first is a check, and nothing is loaded between them.
struct Two<'ctx> {
    first: BasicBlock<'ctx>,
    /// Whether the check holds, or whether it fails.
    check: IntValue<'ctx>,
    fails_if: bool,
    panic: BasicBlock<'ctx>,
    second: BasicBlock<'ctx>,
    choice: IntValue<'ctx>,
    usual_if: bool,
    /// Where most threads go, and the others.
    usual: BasicBlock<'ctx>,
    rest: BasicBlock<'ctx>,
}

impl<'ctx> Two<'ctx> {
    fn of(kernel: FunctionValue<'ctx>) -> Option<Self> {
        let (graph, slow) = (Graph::of(kernel), slow(kernel));
        let first = kernel.get_first_basic_block()?;
        let is_only = |target: &BasicBlock<'ctx>, from| llvm::predecessors(*target) == [from];
        let second = inside(first, &slow).filter(|second| is_only(second, first))?;
        let (then, other) = llvm::branch_targets(first.get_terminator()?)?;
        let fails_if = other == second;
        let panic = if fails_if { then } else { other };
        let ends = llvm::branch_targets(second.get_terminator()?)?;
        let ways = [ends.0, ends.1].into_iter().filter(|target| !slow.contains(target));
        let ways: Vec<_> = ways.map(|target| Way::of(kernel, &graph, &slow, target)).collect();
        let usual = usual(&ways).filter(|usual| is_only(usual, second))?;
        let usual_if = usual == ends.0;
        let rest = if usual_if { ends.1 } else { ends.0 };
        let (check, choice) = (moved::condition(first)?.into_int_value(), moved::condition(second)?.into_int_value());
        let is_simple = rest != panic && is_of_block(choice.into(), &mut { MOST_STEPS });
        (is_simple && second.get_instructions().all(is_quiet)).then_some(Self {
            first,
            check,
            fails_if,
            panic,
            second,
            choice,
            usual_if,
            usual,
            rest,
        })
    }
}

/// Whether all threads of a block compute the same. Where some of a warp went another way, ptxas would not believe that a panic
/// ends them, and have those that are left meet before they exchange anything.
fn is_of_block(value: BasicValueEnum<'_>, steps: &mut usize) -> bool {
    let Some(from) = llvm::instruction_of(value) else { return true };
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    if llvm::reads_position(from) {
        return llvm::special_register(from).is_some_and(|register| !register.starts_with("tid."));
    }
    let mut operands = llvm::value_operands(from);
    (moved::is_fixed(from) || moved::is_kept(from)) && operands.all(|(_, operand)| is_of_block(operand, steps))
}

/// Makes one branch of a function's first two.
pub fn ask_once<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let Some(two) = Two::of(kernel) else { return Ok(()) };
    let [Some(end), Some(second_end)] = [two.first, two.second].map(BasicBlock::get_terminator) else { return Ok(()) };
    let between = two.second.get_instructions().filter(|from| !from.is_terminator());
    let (told, computed): (Vec<_>, Vec<_>) = between.partition(|from| is_told(*from));
    told.into_iter().for_each(InstructionValue::erase_from_basic_block);
    llvm::move_before(context, &computed, end);
    let builder = context.create_builder();
    computed.into_iter().try_for_each(|from| extended::extend(context, &builder, from))?;
    builder.position_before(&end);
    let passes = if two.fails_if { builder.build_not(two.check, "")? } else { two.check };
    let is_usual = if two.usual_if { two.choice } else { builder.build_not(two.choice, "")? };
    let both = builder.build_select(passes, is_usual, context.bool_type().const_zero(), "")?.into_int_value();
    llvm::replace_predecessor(two.usual, two.second, two.first, |value| value);
    llvm::replace_predecessor(two.panic, two.first, two.second, |value| value);
    builder.build_conditional_branch(both, two.usual, two.second)?;
    builder.position_before(&second_end);
    builder.build_conditional_branch(passes, two.rest, two.panic)?;
    end.erase_from_basic_block();
    second_end.erase_from_basic_block();
    Ok(())
}

/// What is only behind one target of a branch.
struct Way<'ctx> {
    target: BasicBlock<'ctx>,
    loads: usize,
    /// Jumps to where it panics or ends.
    checks: usize,
    /// Numbers of 64 bits that are computed.
    wide: usize,
    instructions: usize,
}

impl<'ctx> Way<'ctx> {
    fn of(
        kernel: FunctionValue<'ctx>,
        graph: &Graph<'ctx>,
        slow: &HashSet<BasicBlock<'ctx>>,
        target: BasicBlock<'ctx>,
    ) -> Self {
        let blocks = kernel.get_basic_blocks().into_iter();
        let blocks: Vec<_> = blocks.filter(|block| graph.is_reached_by_way_of(*block, target)).collect();
        let ends = blocks.iter().filter_map(|block| block.get_terminator());
        let checks = ends.flat_map(llvm::block_operands).filter(|next| slow.contains(next)).count();
        let all: Vec<_> = blocks.into_iter().flat_map(|block| block.get_instructions()).collect();
        let loads = all.iter().filter(|from| llvm::is_plain_load(**from)).count();
        let wide = all.iter().filter(|from| is_wide(**from)).count();
        Self { target, loads, checks, wide, instructions: all.len() }
    }

    /// Whether this is the copy for small numbers, and the other way the rest: it may have copies of its own, with loads in
    /// each.
    fn is_small_beside(&self, other: &Self) -> bool {
        2 * self.wide * other.loads < other.wide * self.loads
    }
}

/// Most threads go where most is loaded; of two copies, to the one with fewer checks, fewer numbers of 64 bits, or the shorter
/// one.
fn usual<'ctx>(ways: &[Way<'ctx>]) -> Option<BasicBlock<'ctx>> {
    let is_small = |way: &&Way<'ctx>| ways.iter().any(|other| way.is_small_beside(other));
    let by_loads =
        || ways.iter().max_by_key(|way| (way.loads, Reverse(way.checks), Reverse(way.wide), Reverse(way.instructions)));
    ways.iter().find(is_small).or_else(by_loads).map(|way| way.target)
}

/// Whether an instruction computes a number of 64 bits.
fn is_wide(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_type(), AnyTypeEnum::IntType(number) if number.get_bit_width() == 64)
}

/// The blocks that panic, those that do nothing but end the function, and those that only choose between some of them.
pub fn slow<'ctx>(kernel: FunctionValue<'ctx>) -> HashSet<BasicBlock<'ctx>> {
    let mut slow: HashSet<BasicBlock<'ctx>> = HashSet::new();
    let blocks = kernel.get_basic_blocks();
    loop {
        let known = slow.len();
        for block in &blocks {
            let Some(end) = block.get_terminator() else { continue };
            let targets = llvm::block_operands(end);
            let stores =
                || block.get_instructions().any(|from| llvm::is_plain_store(from) || llvm::is_plain_load(from));
            let is_slow = match end.get_opcode() {
                InstructionOpcode::Unreachable => true,
                InstructionOpcode::Return => block.get_first_instruction() == Some(end),
                _ => targets.len() == 2 && !stores() && targets.iter().all(|target| slow.contains(target)),
            };
            if is_slow {
                slow.insert(*block);
            }
        }
        if slow.len() == known {
            return slow;
        }
    }
}

/// Where a check goes that a block ends in, if it does not fail.
pub fn inside<'ctx>(block: BasicBlock<'ctx>, slow: &HashSet<BasicBlock<'ctx>>) -> Option<BasicBlock<'ctx>> {
    let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
    match (slow.contains(&then), slow.contains(&other)) {
        (false, true) => Some(then),
        (true, false) => Some(other),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A kernel that asks how it was launched, and chooses between two copies, after [`ask_once`]: all of it.
    fn asked_once(choice: &str, between: &str) -> String {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare void @llvm.assume(i1)
            declare void @panic(i32) noreturn
            define ptx_kernel void @f(ptr %from, ptr %to, i32 %n, i64 %len) {{
            entry: %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
              %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %launched = icmp eq i32 %size, 32
              br i1 %launched, label %own, label %panic
            own: %few = icmp ult i32 %t, 32
              call void @llvm.assume(i1 %few)
              %wide = zext i32 %n to i64
              {between}
              %fits = {choice}
              br i1 %fits, label %small, label %rest
            small: %at = getelementptr i32, ptr %from, i64 %wide
              %x = load i32, ptr %at
              br label %end
            rest: %inside = icmp ult i64 %wide, %len
              br i1 %inside, label %load, label %panic
            load: %there = getelementptr i32, ptr %from, i64 %wide
              %y = load i32, ptr %there
              br label %end
            end: %z = phi i32 [ %x, %small ], [ %y, %load ]
              store i32 %z, ptr %to
              ret void
            panic: %code = phi i32 [ 1, %entry ], [ 2, %rest ]
              call void @panic(i32 %code)
              unreachable
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let kernel = module.get_function("f").unwrap();
        ask_once(&context, kernel).unwrap();
        module.verify().unwrap();
        kernel.print_to_string().to_string()
    }

    #[test]
    fn the_launch_and_the_copy_are_one_branch() {
        let text = asked_once("icmp ult i64 %wide, %len", "");
        let entry = text.split("\n\n").next().unwrap();
        assert!(entry.contains("select i1 %launched, i1 %fits, i1 false"), "{text}");
        assert!(entry.contains(", label %small, label %own"), "{text}");
        assert!(text.contains("br i1 %launched, label %rest, label %panic"), "{text}");
        assert!(text.contains("phi i32 [ 1, %own ], [ 2, %rest ]") && !text.contains("assume(i1 %"), "{text}");
        // Each copy extends the number itself, where the code generator sees that it multiplies, too.
        assert_eq!((text.matches("zext i32").count(), text.matches("mov.b32").count()), (4, 3), "{text}");
    }

    #[test]
    fn what_threads_answer_each_for_itself_or_a_load_says_stays() {
        let loaded = "%y.0 = load i64, ptr %to";
        for (choice, between) in [("icmp ult i32 %t, %n", ""), ("icmp ult i64 %y.0, %len", loaded)] {
            let text = asked_once(choice, between);
            assert!(text.contains("br i1 %launched, label %own, label %panic"), "{choice}: {text}");
        }
    }
}

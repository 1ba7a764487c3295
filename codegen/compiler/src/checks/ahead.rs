//! Computes before a barrier what the checks behind it ask for, and at a kernel's start what its first branches do.
//!
//! ```text
//! before: entry: …
//!                br i1 %all, label %fast, label %slow                     ; both load a tile
//!         met:   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//!                br i1 (%block.x == 32 and %block.y == 8), label %mine, label %panic
//! after:  entry: …
//!                %fits = and i1 (%block.x == 32), (%block.y == 8)
//!                br i1 %all, label %fast, label %slow
//!         met:   call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
//!                br i1 %fits, label %mine, label %panic
//! ```
//!
//! The block's size and the kernel's parameters take as long to read as shared memory. ptxas moves nothing across a branch, so
//! that a thread reads them when all have met, and then the tile: the store of a transposition waited for each in turn. Before
//! the branch that comes before the barrier, they are read while others load.
//!
//! Only where a check follows the barrier: else ptxas itself computes early. Not in loops, where a register counts more.
//!
//! A kernel without loops asks more at its start: whether it was launched as it wants, whether the thread has an element, whether
//! that is one at the edge, and whether its neighbours are in the slice. Each answer was waited for, and then the length that
//! the next one needs was read. The first three of such branches are decided at once, on the way that most threads go: where
//! more is loaded. It ends where something is loaded.
//!
//! **Why it is right.** A position, and arithmetic of numbers that are known before, is the same wherever it is computed, and
//! computing it has no effect. The check itself stays where it is. What means nothing where the check fails is not looked at
//! there.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::behind::{self, Met};
use super::early;
use super::moved::{self, Early};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, AnyTypeEnum, BasicBlock, Builder, BuilderError, Context, FunctionValue, InstructionOpcode, InstructionValue,
    Module,
};
use crate::loops::{self, Graph};

/// Branches in turn at a function's start.
const MOST_BRANCHES: usize = 3;

/// Does so in every kernel.
pub fn compute_ahead<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for kernel in llvm::functions(module).filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL) {
        compute_in(context, kernel).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot compute before a barrier: {error}"))
        })?;
    }
    Ok(())
}

fn compute_in<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    if !loops::has_loops(kernel) {
        decide_at_start(context, kernel)?;
    }
    let meets = |block: &BasicBlock<'ctx>| block.get_instructions().any(is_barrier);
    let blocks: Vec<BasicBlock<'ctx>> = kernel.get_basic_blocks().into_iter().filter(meets).collect();
    if blocks.is_empty() {
        return Ok(());
    }
    let graph = Graph::of(kernel);
    let in_loops: HashSet<_> = graph.innermost().into_iter().flat_map(|found| found.blocks).collect();
    let slow = slow(kernel);
    let builder = context.create_builder();
    for block in blocks.into_iter().filter(|block| !in_loops.contains(block)) {
        let Some(before) = graph.dominator(block).filter(|before| !in_loops.contains(before)) else { continue };
        let Some(end) = before.get_terminator() else { continue };
        let found = ahead(&graph, block, before, &slow);
        compute(context, &builder, &found, end)?;
        if let Some(barrier) = block.get_instructions().filter(|from| is_barrier(*from)).last()
            && let Some(inside) = inside(block, &slow).filter(|inside| llvm::predecessors(*inside) == [block])
        {
            behind::compute(context, &graph, &Met { block, before, barrier, inside })?;
        }
    }
    Ok(())
}

/// Computes at a function's start what its branches ask for before anything is loaded.
fn decide_at_start<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>) -> std::result::Result<(), BuilderError> {
    let Some(entry) = kernel.get_first_basic_block() else { return Ok(()) };
    let Some(end) = entry.get_terminator() else { return Ok(()) };
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
        let is_quiet = |from: InstructionValue<'ctx>| {
            let is_told = |callee: FunctionValue<'ctx>| {
                let name = callee.get_name().to_string_lossy();
                name == "llvm.assume" || name.starts_with("llvm.experimental.noalias")
            };
            moved::is_fixed(from)
                || llvm::is_position(from)
                || from.is_terminator()
                || llvm::called_function(from).is_some_and(is_told)
        };
        if depth < MOST_BRANCHES && block.get_instructions().all(is_quiet) {
            let targets = targets.into_iter().filter(|target| !slow.contains(target));
            let ways: Vec<_> = targets.map(|target| Way::of(kernel, &graph, target)).collect();
            let next = usual(&ways).filter(|target| llvm::predecessors(*target) == [block]);
            pending.extend(next.map(|target| (target, depth + 1)));
        }
    }
    compute(context, &context.create_builder(), &found, end)
}

/// What is only behind one target of a branch.
struct Way<'ctx> {
    target: BasicBlock<'ctx>,
    loads: usize,
    /// Numbers of 64 bits that are computed.
    wide: usize,
    instructions: usize,
}

impl<'ctx> Way<'ctx> {
    fn of(kernel: FunctionValue<'ctx>, graph: &Graph<'ctx>, target: BasicBlock<'ctx>) -> Self {
        let blocks = kernel.get_basic_blocks().into_iter();
        let all = blocks.filter(|block| graph.is_reached_by_way_of(*block, target));
        let all: Vec<_> = all.flat_map(|block| block.get_instructions()).collect();
        let loads = all.iter().filter(|from| llvm::is_plain_load(**from)).count();
        let wide = all.iter().filter(|from| is_wide(**from)).count();
        Self { target, loads, wide, instructions: all.len() }
    }

    /// Whether this is the copy for small numbers, and the other way the rest: it may have copies of its own, with loads in
    /// each.
    fn is_small_beside(&self, other: &Self) -> bool {
        2 * self.wide * other.loads < other.wide * self.loads
    }
}

/// Most threads go where most is loaded; of two copies, to the one with fewer numbers of 64 bits, or the shorter one.
fn usual<'ctx>(ways: &[Way<'ctx>]) -> Option<BasicBlock<'ctx>> {
    let is_small = |way: &&Way<'ctx>| ways.iter().any(|other| way.is_small_beside(other));
    let by_loads = || ways.iter().max_by_key(|way| (way.loads, Reverse(way.wide), Reverse(way.instructions)));
    ways.iter().find(is_small).or_else(by_loads).map(|way| way.target)
}

/// Whether an instruction computes a number of 64 bits.
fn is_wide(instruction: InstructionValue<'_>) -> bool {
    matches!(instruction.get_type(), AnyTypeEnum::IntType(number) if number.get_bit_width() == 64)
}

/// Computes these before the end of a block.
fn compute<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    found: &[InstructionValue<'ctx>],
    end: InstructionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    for instruction in found {
        if llvm::is_position(*instruction) {
            builder.position_before(&end);
            early::write(context, builder, *instruction)?;
            continue;
        }
        llvm::move_before(context, &[*instruction], end);
        let value = llvm::result(*instruction);
        builder.position_before(&end);
        let users = moved::users(value, |user| llvm::branch_targets(user).is_some());
        moved::keep_for(context, builder, value, users)?;
    }
    Ok(())
}

/// What can be computed at the end of another block of the conditions of the checks that follow the last barrier of this one.
fn ahead<'ctx>(
    graph: &Graph<'ctx>,
    block: BasicBlock<'ctx>,
    before: BasicBlock<'ctx>,
    slow: &HashSet<BasicBlock<'ctx>>,
) -> Vec<InstructionValue<'ctx>> {
    let early = Early { graph, before, late: HashSet::new() };
    let mut found: Vec<InstructionValue<'ctx>> = Vec::new();
    let mut at = block;
    while let Some(inside) = inside(at, slow) {
        early.add(moved::condition(at), &mut found);
        if llvm::predecessors(inside) != [at] || inside.get_instructions().any(loops::is_convergent) {
            break;
        }
        at = inside;
    }
    found
}

/// The blocks that panic, those that do nothing but end the function, and those that only choose between some of them.
fn slow<'ctx>(kernel: FunctionValue<'ctx>) -> HashSet<BasicBlock<'ctx>> {
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
fn inside<'ctx>(block: BasicBlock<'ctx>, slow: &HashSet<BasicBlock<'ctx>>) -> Option<BasicBlock<'ctx>> {
    let (then, other) = llvm::branch_targets(block.get_terminator()?)?;
    match (slow.contains(&then), slow.contains(&other)) {
        (false, true) => Some(then),
        (true, false) => Some(other),
        _ => None,
    }
}

fn is_barrier(instruction: InstructionValue<'_>) -> bool {
    llvm::called_function(instruction)
        .is_some_and(|callee| callee.get_name().to_string_lossy().starts_with("llvm.nvvm.barrier.cta.sync"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// The kernel after [`compute_ahead`].
    fn computed(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        compute_ahead(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// A kernel in which a check follows a barrier, after [`compute_ahead`]: the first block.
    fn first(condition: &str, other: &str) -> String {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
            declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent
            declare void @panic() noreturn
            define ptx_kernel void @f(ptr %from, ptr addrspace(3) %tile, i32 %n, i1 %mine) {{
            entry: br i1 %mine, label %load, label %met
            load: %x = load i32, ptr %from
              store i32 %x, ptr addrspace(3) %tile
              br label %met
            met: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
              %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
              {condition}
              br i1 %fits, label %inside, label %{other}
            inside: %y = load i32, ptr addrspace(3) %tile
              store i32 %y, ptr %from
              br label %end
            some: br i1 %mine, label %panic, label %end
            more: store i32 %n, ptr %from
              br label %end
            end: ret void
            panic: call void @panic()
              unreachable
            }}"
        );
        computed(&text).split("\n\n").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_check_behind_a_barrier_is_decided_before_it() {
        for other in ["panic", "some"] {
            let entry = first("%fits = icmp eq i32 %size, %n", other);
            let order = ["%ntid.x;", "icmp eq", "mov.pred", "br i1 %mine"].map(|part| entry.find(part));
            assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{other}: {entry}");
        }
    }

    /// A kernel without a barrier whose threads at the edge do less, after [`compute_ahead`]: the first block.
    fn start(between: &str, back: &str) -> String {
        let text = format!(
            "declare void @panic() noreturn
            define ptx_kernel void @f(ptr %from, ptr %to, i64 %len, i64 %n, i64 %i) {{
            entry: %mine = icmp ult i64 %i, %n
              br i1 %mine, label %own, label %end
            own: {between}
              %edge = icmp eq i64 %i, 0
              br i1 %edge, label %first, label %rest
            first: %small = icmp ult i64 %n, 9
              br i1 %small, label %store, label %panic
            rest: %last = add i64 %i, -1
              %inside = icmp ult i64 %last, %len
              br i1 %inside, label %fine, label %panic
            fine: %at = getelementptr i32, ptr %from, i64 %last
              %x = load i32, ptr %at
              store i32 %x, ptr %to
              {back}
            store: store i32 0, ptr %to
              br label %end
            end: ret void
            panic: call void @panic()
              unreachable
            }}"
        );
        computed(&text).split("br i1").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_first_branches_are_decided_at_once() {
        let entry = start("", "br label %end");
        assert_eq!((entry.matches("icmp").count(), entry.matches("mov.pred").count()), (3, 2), "{entry}");
        assert!(!entry.contains("%small"), "the shorter way: {entry}");
    }

    #[test]
    fn nothing_is_decided_before_a_load_or_in_a_loop() {
        let entry = start("%y = load i32, ptr %from", "br label %end");
        assert_eq!(entry.matches("mov.pred").count(), 1, "only what is asked right behind: {entry}");
        let entry = start("", "%more = icmp eq i32 %x, 0\n br i1 %more, label %fine, label %end");
        assert!(!entry.contains("mov.pred"), "{entry}");
    }

    #[test]
    fn what_is_loaded_or_no_check_stays() {
        // What the barrier waits for, and a branch both of whose ways go on.
        let loaded = "%z = load i32, ptr addrspace(3) %tile\n %fits = icmp eq i32 %size, %z";
        for (condition, other) in [(loaded, "panic"), ("%fits = icmp eq i32 %size, %n", "more")] {
            let entry = first(condition, other);
            assert!(!entry.contains("asm") && !entry.contains("icmp"), "{entry}");
        }
    }
}
